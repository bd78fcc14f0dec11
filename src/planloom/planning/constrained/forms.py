"""Each analysis as a form to fill in, whose column fields list the table's fitting columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from planloom.analysis.results import Analysis
from planloom.engine.json_value import JsonObject, JsonValue
from planloom.planning.constrained.offer import Offer
from planloom.tools.tool import AnyTool

MOST_ANALYSES = 4
MOST_ROW_CHOICES = 3
GRAINS = ("auto", "day", "week", "month", "quarter", "year")
ORDERS = ("highest first", "lowest first")
BUILT_IN_TOOLS = frozenset(
    {
        "data_overview", "trend_over_time", "share_of_total", "rank_categories",
        "perform_analysis",
    }
)  # fmt: skip
"""Tools that the forms of the four usual analyses stand for."""

# The words that begin a column parameter's description say which columns fit.
_ROLES = (
    ("date", re.compile(r"(?:the |a )?(?:date|time) columns?\b", re.IGNORECASE)),
    ("number", re.compile(r"(?:the |a )?numeric columns?\b", re.IGNORECASE)),
    ("group", re.compile(r"(?:the |a )?categor(?:y|ical) columns?\b", re.IGNORECASE)),
    ("any", re.compile(r"(?:the |a )?columns?\b", re.IGNORECASE)),
)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a form."""

    name: str
    schema: JsonObject
    """`enum`, `type: boolean`, or an array of an enum."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One analysis as a model fills it in."""

    analysis: str
    """Value of its "analysis" field; a tool's name for all but the four usual ones."""
    purpose: str = ""
    """Said to the model; "" for the usual ones, which the prompt explains."""
    fields: tuple[Field, ...]
    table: str = "table"
    """Name of the tool's parameter that takes the table."""

    def schema(self) -> JsonObject:
        """Return the JSON Schema of the filled-in form."""
        properties: dict[str, JsonValue] = {"analysis": {"const": self.analysis}}
        properties |= {field.name: field.schema for field in self.fields}
        return _closed_object(properties)


def make_forms(offer: Offer, tools: Iterable[AnyTool] = ()) -> tuple[Form, ...]:
    """Return the forms that can be filled in with what is offered.

    `tools` may hold any tools: those that analyse a table and whose column parameters say their
    type ("Numeric column ...", "Date column ...", "Category column ...", "Column ...") join.
    """
    own = (form_of_tool(tool, offer) for tool in tools if tool.name not in BUILT_IN_TOOLS)
    return (*_usual_forms(offer), *(form for form in own if form is not None))


def _usual_forms(offer: Offer) -> Iterator[Form]:
    measures = _enum(tuple(offer.measures))
    yield Form(analysis="overview", fields=(Field(name="measure", schema=measures),))
    if offer.dates:
        yield Form(
            analysis="trend",
            fields=(
                Field(name="measure", schema=measures),
                Field(name="date", schema=_enum(offer.dates)),
                Field(name="grain", schema=_enum(GRAINS)),
                Field(name="split", schema=_enum((None, *offer.splits))),
            ),
        )
    if not offer.groups:
        return
    group = Field(name="group", schema=_enum(offer.groups))
    yield Form(
        analysis="share", fields=(group, Field(name="measure", schema=_enum(offer.additive)))
    )
    yield Form(
        analysis="ranking",
        fields=(
            group,
            Field(name="measure", schema=measures),
            Field(name="order", schema=_enum(ORDERS if offer.may_ascend else ORDERS[:1])),
            Field(name="top", schema=_enum((None, *offer.tops))),
        ),
    )


def form_of_tool(tool: AnyTool, offer: Offer) -> Form | None:
    """Return the form of an analysis tool; None when it is none or cannot be filled in here."""
    result = tool.result_type
    if not (isinstance(result, type) and issubclass(result, Analysis)):
        return None
    table = table_parameter(tool)
    if table is None:
        return None
    # Asked for the tool's schema, which loads pydantic: only where there is such a tool.
    shapes = cast("Mapping[str, JsonObject]", tool.parameters.get("properties", {}))
    fields: list[Field] = []
    for parameter in tool.inputs:
        if parameter.kind == "table":
            continue
        schema = _field_schema(shapes.get(parameter.name, {}), offer)
        if schema is not None:
            fields.append(Field(name=parameter.name, schema=schema))
        elif parameter.required:
            return None
    purpose = tool.description.split("\n")[0]
    return Form(analysis=tool.name, purpose=purpose, fields=tuple(fields), table=table)


def table_parameter(tool: AnyTool) -> str | None:
    """Return the name of a tool's only reference parameter, a table; None when there is no such."""
    references = [parameter for parameter in tool.inputs if parameter.kind is not None]
    return references[0].name if [p.kind for p in references] == ["table"] else None


def _field_schema(shape: JsonObject, offer: Offer) -> JsonObject | None:
    """Return what may stand in a field, or None where a model may not choose."""
    kinds = _types(shape)
    if "enum" in shape:
        return _enum(cast("Sequence[JsonValue]", shape["enum"]))
    if kinds - {"null"} == {"boolean"}:
        return {"type": "boolean"}
    if kinds - {"null"} == {"integer"}:
        return _enum(offer.tops) if offer.tops else None
    role = _role(str(shape.get("description", "")))
    columns = {
        "date": offer.dates, "number": offer.numbers, "group": offer.groups, "any": offer.columns,
    }.get(role, ())  # fmt: skip
    if kinds - {"null"} == {"string"} and columns:
        return _enum((None, *columns) if "null" in kinds else columns)
    if kinds - {"null"} == {"array"} and columns:
        least = shape.get("minItems", 1)
        # A correlation of one column would say nothing; tools say how many they need.
        if isinstance(least, int) and len(columns) >= least:
            return {"type": "array", "items": _enum(columns), "minItems": least, "maxItems": 8}
    return None


def _types(shape: JsonObject) -> set[str]:
    parts = cast("Sequence[JsonObject]", shape.get("anyOf", (shape,)))
    return {str(part.get("type", "")) for part in parts}


def _role(description: str) -> str:
    return next((role for role, words in _ROLES if words.match(description)), "")


def response_schema(forms: Sequence[Form], offer: Offer) -> JsonObject:
    """Return the JSON Schema of a reply: one to four filled-in forms, and rows to keep.

    It uses objects, arrays, `anyOf`, `const` and `enum` only, which grammars of local servers and
    the schema modes of providers know alike.
    """
    analyses: JsonObject = {
        "type": "array",
        "items": {"anyOf": [form.schema() for form in forms]},
        "minItems": 1,
        "maxItems": MOST_ANALYSES,
    }
    properties: dict[str, JsonValue] = {"analyses": analyses}
    if offer.rows:
        properties["rows"] = {
            "type": "array",
            "items": {"anyOf": [_row_schema(offer, i) for i in range(len(offer.rows))]},
            "maxItems": MOST_ROW_CHOICES,
        }
    return _closed_object(properties)


def _row_schema(offer: Offer, number: int) -> JsonObject:
    choice = offer.rows[number]
    return _closed_object(
        {
            "column": {"const": choice.column},
            "is": _enum(choice.comparisons),
            "value": _enum(tuple(choice.values)),
        }
    )


def _enum(values: Sequence[JsonValue]) -> JsonObject:
    return {"enum": list(values)}


def _closed_object(properties: Mapping[str, JsonValue]) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
