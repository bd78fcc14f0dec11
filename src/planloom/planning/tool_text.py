"""Tools as a planner is told of them: one line each, and only those that a goal is likely to need.

filter_rows(table, conditions: list[Condition]) -> table  # Keep the rows for which all hold.
Condition = {column: str, comparison: '=' | '<' | '>', value: any}
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum

from planloom.planning.type_fit import fits
from planloom.tools.registry import ToolRegistry
from planloom.tools.search import best_matches, words
from planloom.tools.signature import (
    Parameter,
    parameter_descriptions,
    reference_kind,
    type_text,
    union_members,
)
from planloom.tools.tool import AnyTool

MAX_TOOLS = 20
"""Registries with more tools are searched for those that fit the goal."""
MAX_CHARS = 8_000
"""Of the text of all tools; about 2,000 tokens."""

_FOUND = 12
_NOTE_CHARS = 90
_SENTENCE_CHARS = 160
_DEFAULT_CHARS = 24
_MAX_OTHERS = 150
_WEAK = frozenset({"data", "file", "over", "time", "数据", "文件"})
"""Words in the names of tools that say too little of what they are for."""
_COMMON = frozenset(
    {"a", "an", "the", "of", "to", "in", "for", "and", "or", "is", "are", "as", "by"}
)


@dataclass(frozen=True, kw_only=True)
class ToolChoice:
    """The tools that a planner is shown, and those that it is only told the names of."""

    shown: tuple[AnyTool, ...]
    others: tuple[AnyTool, ...] = ()


def choose_tools(
    registry: ToolRegistry,
    goal: str,
    *,
    limit: int = MAX_TOOLS,
    always: Iterable[str] = (),
    spare: Collection[str] = (),
) -> ToolChoice:
    """Return the tools that a goal is likely to need; all of them where they are few.

    What a chosen tool takes, such as a table, another one has to make: such tools come along.
    `always` names tools that are shown whatever the goal is, `spare` those of which a planner is
    only told the names, unless a chosen tool needs what they make.
    """
    tools = registry.tools()
    likely = [tool for tool in tools if tool.name not in spare]
    if len(likely) <= limit:
        likely = [*likely, *_makers(likely, tools)]
        return _choice(likely, tools)
    kept = [tool for tool in tools if tool.name in set(always)]
    query = " ".join(word for word in goal.split() if word.lower() not in _COMMON)
    found = [tool for tool in registry.search(query, limit=_FOUND)
             if tool in likely and tool not in kept]  # fmt: skip
    # A goal that shares no word with any tool still needs something to be planned with.
    chosen = [*kept, *(found or likely[:_FOUND])][:limit]
    chosen += _makers(chosen, tools)[: limit - len(chosen)]
    return _choice(chosen, tools)


def _choice(chosen: Sequence[AnyTool], tools: Sequence[AnyTool]) -> ToolChoice:
    shown = tuple(tool for tool in tools if tool in chosen)
    return ToolChoice(shown=shown, others=tuple(tool for tool in tools if tool not in chosen))


def with_makers(chosen: Sequence[AnyTool], tools: Sequence[AnyTool]) -> tuple[AnyTool, ...]:
    """Return the chosen tools and those of `tools` that make what they take."""
    return (*chosen, *_makers(chosen, tools))


def named_by(text: str, tools: Iterable[AnyTool]) -> list[AnyTool]:
    """Return the tools whose name or keywords share a word with a text, best first.

    Words that only stand in a description are too weak a sign: "total" or "number" fit anything.
    """
    said = set(words(text)) - _COMMON
    named = [
        tool for tool in tools if said & (set(words(" ".join((tool.name, *tool.keywords)))) - _WEAK)
    ]
    return best_matches(text, named, len(named))


def tools_text(choice: ToolChoice, *, max_chars: int = MAX_CHARS) -> str:
    """Return the tools one a line, then the objects that they take or give; bounded.

    Where the whole would be too long, notes on parameters go first, then descriptions.
    """
    texts = ("\n".join(_lines(choice.shown, detail)) for detail in (2, 1, 0))
    text = next((text for text in texts if len(text) <= max_chars), None)
    if text is None:
        shortest = "\n".join(_lines(choice.shown, 0))
        text = shortest[:max_chars].rpartition("\n")[0]
    return f"{text}\n{_others_text(choice.others)}" if choice.others else text


def tool_line(tool: AnyTool, *, detail: int = 2) -> str:
    """Return a tool in one line: 0 its signature, 1 with a sentence, 2 with notes on parameters."""
    shown = ", ".join(_parameter(p) for p in tool.inputs if not _is_too_much(p))
    line = f"{tool.name}({shown}) -> {type_text(tool.result_type)}"
    said = [_first_sentence(tool.description)] if detail else []
    if detail > 1:
        said += _notes(tool)
    text = " ".join(part for part in said if part)
    return f"{line}  # {text}" if text else line


def _makers(chosen: Sequence[AnyTool], tools: Sequence[AnyTool]) -> list[AnyTool]:
    """Return the tools without which the chosen ones lack an input."""
    added: list[AnyTool] = []
    waiting = list(chosen)
    while waiting:
        for parameter in waiting.pop(0).inputs:
            if not (parameter.required and parameter.kind):
                continue
            if any(_makes(tool, parameter) and not _takes_same(tool, parameter)
                   for tool in (*chosen, *added)):  # fmt: skip
                continue
            maker = _best_maker(parameter, tools)
            if maker and maker not in chosen and maker not in added:
                added.append(maker)
                waiting.append(maker)
    return added


def _best_maker(parameter: Parameter, tools: Sequence[AnyTool]) -> AnyTool | None:
    """Return the tool that makes what a parameter takes out of the fewest other results."""
    makers = [tool for tool in tools if _makes(tool, parameter)]
    return min(makers, key=_needed_results, default=None)


def _needed_results(tool: AnyTool) -> int:
    return sum(1 for parameter in tool.inputs if parameter.required and parameter.kind)


def _makes(tool: AnyTool, parameter: Parameter) -> bool:
    # Only what says that it gives a table counts as its maker: "any" fits everything.
    return tool.result_kind == parameter.kind and fits(tool.result_type, parameter.annotation)


def _takes_same(tool: AnyTool, parameter: Parameter) -> bool:
    """Whether a tool needs itself what it makes: a table out of a table is no beginning."""
    return any(p.required and p.kind == parameter.kind for p in tool.inputs)


def _lines(tools: Sequence[AnyTool], detail: int) -> Iterator[str]:
    for tool in tools:
        yield tool_line(tool, detail=detail)
    yield from _object_lines(tools)


def _others_text(others: Sequence[AnyTool]) -> str:
    names = ", ".join(tool.name for tool in others[:_MAX_OTHERS])
    more = f" and {len(others) - _MAX_OTHERS} more" if len(others) > _MAX_OTHERS else ""
    return f"More tools, by name only: {names}{more}."


def _parameter(parameter: Parameter) -> str:
    members = [m for m in union_members(parameter.annotation) if m not in (None, type(None))]
    may_be_left_out = not parameter.required
    kind = reference_kind(parameter.annotation)
    text = kind or " | ".join(type_text(member) for member in members)
    if not may_be_left_out:
        return parameter.name if text == parameter.name else f"{parameter.name}: {text}"
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    shown = repr(default)
    return f"{parameter.name}: {text} = {shown if len(shown) <= _DEFAULT_CHARS else '...'}"


def _is_too_much(parameter: Parameter) -> bool:
    """Whether a parameter costs more to explain than it gives: objects that may be left out."""
    return not parameter.required and any(_classes(parameter.annotation))


def _needs_words(parameter: Parameter) -> bool:
    """Whether its type leaves open what is meant: a text may be anything, a switch may not."""
    return not _is_too_much(parameter) and (
        parameter.required or "str" in type_text(parameter.annotation)
    )


def _notes(tool: AnyTool) -> Iterator[str]:
    """Yield what the docstring says of parameters beyond their names and the tool's own words."""
    said = parameter_descriptions(inspect.getdoc(tool.function))
    known = set(_words(f"{tool.name} {tool.description}"))
    for parameter in tool.inputs:
        note = _first_sentence(said.get(parameter.name, ""), _NOTE_CHARS).rstrip(".")
        if parameter.kind or not note or not _needs_words(parameter):
            continue
        if set(_words(note)) - known - set(_words(parameter.name)):
            yield f"{parameter.name}: {note};"


def _words(text: str) -> Iterator[str]:
    for word in re.findall(r"[^\W_]+", text.lower()):
        if word not in _COMMON:
            yield word.removesuffix("s") if len(word) > 3 else word


def _first_sentence(text: str, limit: int = _SENTENCE_CHARS) -> str:
    end = re.search(r"[.;!?](?=\s)|[。；！？]", text)
    sentence = text[: end.end()] if end else text
    sentence = " ".join(sentence.rstrip(";；").split())
    return sentence if len(sentence) <= limit else sentence[: limit - 3].rstrip() + "..."


def _object_lines(tools: Sequence[AnyTool]) -> Iterator[str]:
    """Yield the fields of each class that a tool takes, then the part names of those it gives."""
    taken = [cls for tool in tools for p in tool.inputs if not _is_too_much(p)
             for cls in _classes(p.annotation)]  # fmt: skip
    explained: dict[str, type] = {}
    while taken:
        cls = taken.pop(0)
        if cls.__name__ not in explained:
            explained[cls.__name__] = cls
            taken += [inner for hint in _fields(cls).values() for inner in _classes(hint)]
    for name, cls in explained.items():
        shown = ", ".join(f"{field}: {type_text(hint)}" for field, hint in _fields(cls).items())
        yield f"{name} = {{{shown}}}"
    given = {cls.__name__: cls for tool in tools for cls in _classes(tool.result_type)}
    for name, cls in given.items():
        if name not in explained:
            yield f"{name} has {', '.join(_fields(cls))}"


def _classes(annotation: object) -> Iterator[type]:
    """Yield the classes with fields inside of a type, references left out."""
    for member in union_members(annotation):
        if reference_kind(member):
            continue
        if isinstance(member, type) and _has_fields(member):
            yield member
        for argument in typing.get_args(member):
            yield from _classes(argument)


def _has_fields(cls: object) -> bool:
    return is_dataclass(cls) or typing.is_typeddict(cls) or hasattr(cls, "model_fields")


def _fields(cls: type) -> dict[str, object]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, AttributeError, TypeError):
        return dict.fromkeys(inspect.get_annotations(cls), object)
    own = {name: hint for name, hint in hints.items() if not name.startswith("_")}
    return {
        name: hint for name, hint in own.items() if typing.get_origin(hint) is not typing.ClassVar
    }
