"""Reads the forms that a model filled in, and refuses what the table or the goal does not give."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from planloom.engine.json_value import JsonObject, JsonValue
from planloom.errors import PlanError
from planloom.planning.constrained.forms import MOST_ANALYSES, MOST_ROW_CHOICES, Field, Form
from planloom.planning.constrained.offer import ROWS, Offer
from planloom.planning.constrained.row_choices import WITHIN, RowChoice
from planloom.planning.goals.intent import (
    AnalysisKind,
    AnalysisRequest,
    Comparison,
    Filter,
    Grain,
    Measure,
    ToolRequest,
)  # fmt: skip

_LISTED = 40
_USUAL = ("overview", "trend", "share", "ranking")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a model chose, checked."""

    analyses: tuple[AnalysisRequest, ...]
    """Without the grain where the model left it open ("auto")."""
    others: tuple[ToolRequest, ...] = ()
    filters: tuple[Filter, ...] = ()


def read_choices(value: object, forms: Sequence[Form], offer: Offer) -> Choices:
    """Return what a parsed reply chooses.

    Raises:
        PlanError: lists everything that does not fit, each with what may stand there.
    """
    if not isinstance(value, Mapping):
        raise PlanError('The reply has to be a JSON object with the key "analyses".')
    reply = cast("JsonObject", value)
    problems: list[str] = []
    filled = _filled_forms(reply.get("analyses"), forms, offer, problems)
    filters = _filters(reply.get("rows") or (), offer, problems)
    if problems:
        raise PlanError("\n".join(problems))
    usual = [_request(form, offer) for form in filled if form["analysis"] in _USUAL]
    tables = {form.analysis: form.table for form in forms}
    others = [_tool_request(form, tables) for form in filled if form["analysis"] not in _USUAL]
    return Choices(
        analyses=tuple(dict.fromkeys(usual)),
        others=tuple(other for i, other in enumerate(others) if other not in others[:i]),
        filters=tuple(dict.fromkeys(filters)),
    )


# -- the forms


def _filled_forms(
    items: JsonValue, forms: Sequence[Form], offer: Offer, problems: list[str]
) -> list[JsonObject]:
    if not isinstance(items, Sequence) or isinstance(items, str) or not items:
        problems.append('"analyses" has to be a list of at least one analysis.')
        return []
    by_name = {form.analysis: form for form in forms}
    filled: list[JsonObject] = []
    for item in items[:MOST_ANALYSES]:
        if not isinstance(item, Mapping) or item.get("analysis") not in by_name:
            problems.append(f"{_shown(item)} names none of the analyses: {', '.join(by_name)}.")
            continue
        problems += _form_problems(item, by_name[str(item["analysis"])], offer)
        filled.append(item)
    return [] if problems else filled


def _form_problems(item: JsonObject, form: Form, offer: Offer) -> Iterator[str]:
    for field in form.fields:
        if field.name not in item and None not in _choices(field.schema):
            yield f'"{form.analysis}" needs "{field.name}"; choose from {_listed(field.schema)}.'
        elif not _fits(item.get(field.name), field.schema):
            yield _misfit(item.get(field.name), field, form, offer)
    known = {"analysis", *(field.name for field in form.fields)}
    for name in item.keys() - known:
        yield f'"{form.analysis}" has no field "{name}"; it has {", ".join(sorted(known))}.'


def _fits(value: JsonValue, schema: JsonObject) -> bool:
    if "enum" in schema:
        # JSON's true is no number, though Python takes True for 1.
        return any(value == c and type(value) is type(c) for c in _choices(schema))
    if schema.get("type") == "boolean":
        return isinstance(value, bool)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    items = cast("JsonObject", schema["items"])
    enough = cast("int", schema["minItems"]) <= len(value) <= cast("int", schema["maxItems"])
    return enough and all(_fits(part, items) for part in value)


def _choices(schema: JsonObject) -> Sequence[JsonValue]:
    return cast("Sequence[JsonValue]", schema.get("enum", ()))


def _misfit(value: JsonValue, field: Field, form: Form, offer: Offer) -> str:
    allowed = field.schema if "enum" in field.schema else field.schema.get("items", {})
    schema = cast("JsonObject", allowed)
    text = f'"{field.name}" of "{form.analysis}" cannot be {_shown(value)}'
    names = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    odd = [str(name) for name in names if name not in _choices(schema)]
    column = _column_in(odd[0]) if odd else ""
    if column in offer.types:
        text += f": {_shown(column)} is a {offer.types[column]} column"
    near = difflib.get_close_matches(odd[0] if odd else "", _texts(schema), n=1)
    hint = f" Did you mean {_shown(near[0])}?" if near else ""
    return f"{text}; choose from {_listed(schema)}.{hint}"


def _column_in(written: str) -> str:
    """Return the column inside of "sum(amount)", or the text itself."""
    _, bracket, rest = written.partition("(")
    return rest.removesuffix(")") if bracket and rest.endswith(")") else written


def _texts(schema: JsonObject) -> list[str]:
    return [choice for choice in _choices(schema) if isinstance(choice, str)]


def _listed(schema: JsonObject) -> str:
    choices = _choices(schema)
    if not choices:
        return json.dumps(schema, ensure_ascii=False)
    more = f" and {len(choices) - _LISTED} more" if len(choices) > _LISTED else ""
    return ", ".join(map(_shown, choices[:_LISTED])) + more


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


# -- what they ask for


def _request(form: JsonObject, offer: Offer) -> AnalysisRequest:
    measure = offer.measures[str(form.get("measure", ROWS))]
    kind = cast("AnalysisKind", form["analysis"])
    grain = str(form.get("grain", "auto"))
    top = form.get("top")
    return AnalysisRequest(
        kind=kind,
        measure=measure.column,
        how=measure.how,
        date=_text(form.get("date")),
        grain=cast("Grain", grain) if kind == "trend" and grain != "auto" else None,
        category=_text(form.get("group")),
        by=_text(form.get("split")),
        top=top if isinstance(top, int) else None,
        ascending=form.get("order") == "lowest first",
    )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _tool_request(form: JsonObject, tables: Mapping[str, str]) -> ToolRequest:
    arguments: dict[str, bool | int | str | tuple[str, ...] | None] = {}
    for name, value in form.items():
        if name == "analysis":
            continue
        if isinstance(value, bool | int | str) or value is None:
            arguments[name] = value
        elif isinstance(value, Sequence):
            arguments[name] = tuple(map(str, value))
    tool = str(form["analysis"])
    return ToolRequest(tool=tool, arguments=arguments, table=tables[tool])


# -- the rows


def _filters(items: JsonValue, offer: Offer, problems: list[str]) -> list[Filter]:
    if not isinstance(items, Sequence) or isinstance(items, str):
        problems.append('"rows" has to be a list.')
        return []
    filters: list[Filter] = []
    for item in items[:MOST_ROW_CHOICES]:
        found = _filter(item, offer.rows) if isinstance(item, Mapping) else None
        if found is None:
            problems.append(f"{_shown(item)} is no choice of rows. {_row_help(offer.rows)}")
        else:
            filters += found
    return _joined(filters)


def _filter(item: JsonObject, choices: Sequence[RowChoice]) -> tuple[Filter, ...] | None:
    comparison, value = item.get("is"), item.get("value")
    for choice in choices:
        known = isinstance(value, str | int | float) and value in choice.values
        if choice.column != item.get("column") or comparison not in choice.comparisons or not known:
            continue
        chosen = choice.values[cast("str | float", value)]
        if isinstance(chosen, tuple):
            return chosen if comparison == WITHIN else None
        return (
            Filter(column=choice.column, comparison=cast("Comparison", comparison), value=chosen),
        )
    return None


def _row_help(choices: Sequence[RowChoice]) -> str:
    if not choices:
        return 'The goal names no rows to keep: leave "rows" out.'
    parts = [
        f"{_shown(c.column)} {' or '.join(c.comparisons)} "
        + ", ".join(_shown(value) for value in list(c.values)[:12])
        for c in choices[:12]
    ]
    return "Possible: " + "; ".join(parts) + "."


_MANY: dict[str, Comparison] = {"=": "in", "!=": "not in"}


def _joined(filters: Sequence[Filter]) -> list[Filter]:
    """Join "= a" and "= b" of one column to "in (a, b)": together they would keep no row."""
    joined: list[Filter] = []
    for item in filters:
        alike = [f for f in filters if (f.column, f.comparison) == (item.column, item.comparison)]
        values = tuple(dict.fromkeys(cast("str", f.value) for f in alike))
        if item.comparison in _MANY and len(values) > 1:
            many = _MANY[item.comparison]
            joined.append(Filter(column=item.column, comparison=many, value=values))
        else:
            joined.append(item)
    return joined


def measures_of(requests: Sequence[AnalysisRequest]) -> tuple[Measure, ...]:
    """Return every measure that the analyses use, once, in order."""
    return tuple(dict.fromkeys(Measure(column=r.measure, how=r.how) for r in requests))
