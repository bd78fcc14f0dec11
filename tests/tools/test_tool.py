from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from planloom.errors import ConfigError
from planloom.tools.context import ToolContext
from planloom.tools.tool import Tool, tool
from planloom.values import TableRef

if TYPE_CHECKING:
    from decimal import Context as OnlyForCheckers


@tool
def add(left: int, right: int = 1) -> int:
    """Add two
    numbers.

    And nothing else.
    """
    return left + right


def test_bare_decorator_gives_a_tool_that_is_still_callable() -> None:
    assert isinstance(add, Tool)
    assert add(2, right=3) == 5
    assert add.name == "add"
    assert add.description == "Add two numbers."


def test_options_are_kept() -> None:
    @tool(name="send_mail", effect="send", timeout_s=5, approval="always", compensation="recall")
    def send(to: str) -> None: ...

    assert (send.name, send.effect, send.timeout_s) == ("send_mail", "send", 5)
    assert (send.approval, send.compensation, send.retries) == ("always", "recall", 0)


def test_help_and_inspect_see_the_function() -> None:
    assert list(inspect.signature(add).parameters) == ["left", "right"]


@pytest.mark.parametrize("effect", ["write", "send", "exec"])
def test_retries_are_refused_for_effects_that_must_not_happen_twice(effect: Any) -> None:
    def act(what: str) -> None: ...

    with pytest.raises(ConfigError, match=f"'act' has the effect '{effect}'.*retries=0"):
        tool(effect=effect, retries=1)(act)
    assert tool(effect=effect, retries=1, idempotent=True)(act).retries == 1
    assert tool(effect=effect)(act).retries == 0


def test_reading_is_retried_by_default() -> None:
    def fetch(url: str) -> str:
        return url

    assert tool(effect="read")(fetch).retries == 2
    assert tool(effect="read", retries=0)(fetch).retries == 0


def test_caching_an_effect_is_refused() -> None:
    def act(what: str) -> None: ...

    with pytest.raises(ConfigError, match="cached result would skip it"):
        tool(effect="write", cache_s=60)(act)


def test_parameter_without_type_is_refused_with_its_name() -> None:
    def loose(path, limit: int = 3) -> str:  # type: ignore[no-untyped-def]
        return ""

    with pytest.raises(ConfigError, match="Parameter 'path' of tool 'loose' has no type"):
        tool(loose)


def test_method_is_refused_with_the_way_that_works() -> None:
    class Shop:
        def price(self, item: str) -> int:
            return len(item)

    with pytest.raises(ConfigError, match=r"bound method: tool\(object.method\)"):
        tool(Shop.price)
    assert tool(Shop().price)("tea") == 3


def test_star_parameters_are_refused() -> None:
    def many(*paths: str) -> None: ...
    def options(**values: str) -> None: ...
    def positional(path: str, /) -> None: ...

    with pytest.raises(ConfigError, match=r"takes '\*paths'.*'paths: list\[str\]'"):
        tool(many)
    with pytest.raises(ConfigError, match=r"takes '\*\*values'"):
        tool(options)
    with pytest.raises(ConfigError, match="'path' of tool 'positional' is positional only"):
        tool(positional)


def test_generator_is_refused() -> None:
    def lines(path: str):  # type: ignore[no-untyped-def]
        yield path

    with pytest.raises(ConfigError, match="Return a list"):
        tool(lines)


@pytest.mark.parametrize("name", ["", "read file", "9lives", "x" * 65, "读取"])
def test_name_that_a_plan_cannot_write_is_refused(name: str) -> None:
    def act(what: str) -> None: ...

    with pytest.raises(ConfigError, match="cannot be the name of a tool"):
        Tool(name=name, function=act)


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_time_limit_must_be_positive(limit: float) -> None:
    def act(what: str) -> None: ...

    with pytest.raises(ConfigError, match="timeout_s must be above 0"):
        tool(timeout_s=limit)(act)


def test_isolation_must_fit_the_function() -> None:
    def plain(what: str) -> None: ...
    async def coroutine(what: str) -> None: ...

    with pytest.raises(ConfigError, match="would block the event loop"):
        tool(isolation="async")(plain)
    with pytest.raises(ConfigError, match="is an 'async def'"):
        tool(isolation="thread")(coroutine)
    with pytest.raises(ConfigError, match="cannot be imported"):
        tool(isolation="process")(plain)
    assert tool(plain).runs_in == "thread"
    assert tool(coroutine).runs_in == "async"


def test_signature_line_is_compact() -> None:
    @tool
    def trend(
        table: TableRef, date: str, value: str = "amount", top: int | None = None
    ) -> TableRef:
        return table

    line = "trend(table, date: str, value: str = 'amount', top: int | None = None) -> table"
    assert trend.signature_line() == line
    assert trend.result_kind == "table"
    assert [parameter.kind for parameter in trend.inputs] == ["table", None, None, None]


def test_context_is_no_input() -> None:
    @tool
    def save(text: str, context: ToolContext) -> str:
        return text

    @tool
    def maybe(text: str, context: ToolContext | None = None) -> str:
        return text

    assert [parameter.name for parameter in save.inputs] == ["text"]
    assert [parameter.name for parameter in maybe.inputs] == ["text"]
    assert save.context_parameter == "context"


def test_local_types_in_written_annotations_are_found() -> None:
    class Colour(TableRef):
        pass

    @tool
    def paint(colour: Colour) -> list[Colour]:
        return [colour]

    @tool(timeout_s=3)
    def repaint(colour: Colour) -> Colour:
        return colour

    assert paint.types["colour"] is Colour
    assert repaint.types["return"] is Colour


def test_undefined_type_is_named_with_the_mend() -> None:
    @tool
    def act(how: OnlyForCheckers) -> None: ...

    with pytest.raises(ConfigError, match=r"tool 'act'.*OnlyForCheckers.*TYPE_CHECKING"):
        _ = act.types


def test_importing_the_decorator_loads_no_heavy_package() -> None:
    code = (
        "import sys, planloom.tools.tool, planloom.tools.registry; "
        "heavy = {'pydantic', 'jsonschema_rs', 'asyncio', 'docstring_parser', 'duckdb'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
