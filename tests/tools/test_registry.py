from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planloom.errors import ConfigError, UnknownToolError
from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import Tool, tool
from planloom.tools.toolsets import Toolset
from planloom.values import TableRef


@tool
def read_csv_file(path: str) -> TableRef:
    """Read a CSV file into a table."""
    raise NotImplementedError


@tool(keywords=("趋势", "月度"))
def trend_over_time(table: TableRef, date: str, value: str) -> TableRef:
    """Add up a value for each period."""
    return table


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules can be imported."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write_tool(folder: Path, module: str, name: str) -> Toolset:
    source = (
        "from planloom.tools.tool import tool\n@tool\n"
        f"def {name}(text: str) -> str:\n    return text\n"
    )
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    return Toolset(name=module, module=module)


def test_get_returns_the_registered_tool() -> None:
    assert ToolRegistry([read_csv_file]).get("read_csv_file") is read_csv_file


def test_unknown_name_gets_the_list_and_the_nearest_name() -> None:
    registry = ToolRegistry([read_csv_file, trend_over_time])
    with pytest.raises(UnknownToolError) as raised:
        registry.get("read_cvs")
    assert str(raised.value) == (
        "Tool 'read_cvs' is not registered. Registered: read_csv_file, trend_over_time. "
        "Did you mean 'read_csv_file'?"
    )


def test_empty_registry_says_so() -> None:
    with pytest.raises(UnknownToolError, match="Registered: none"):
        ToolRegistry().get("read")


def named(name: str, module: str) -> Tool[[str], str]:
    def function(text: str) -> str:
        return text

    function.__module__ = module
    return Tool(name=name, function=function)


def test_second_tool_of_one_name_is_refused_with_both_modules() -> None:
    registry = ToolRegistry()
    first = named("process", "billing")
    registry.register(first)
    registry.register(first)
    with pytest.raises(ConfigError, match=r"'process' of module 'shipping'.*module 'billing'"):
        registry.register(named("process", "shipping"))
    assert registry.get("process") is first


def test_replacing_has_to_be_asked_for() -> None:
    registry = ToolRegistry([named("process", "billing")])
    second = named("process", "shipping")
    registry.register(second, replace=True)
    assert registry.get("process") is second


def test_schemas_are_in_the_form_of_openai() -> None:
    (schema,) = ToolRegistry([read_csv_file]).schemas()
    assert schema["type"] == "function"
    assert list(schema["function"]) == ["name", "description", "parameters"]  # type: ignore[arg-type]


def test_arguments_of_an_unknown_tool_raise() -> None:
    with pytest.raises(UnknownToolError):
        ToolRegistry().check_arguments("read", {})


def test_arguments_are_checked_by_name() -> None:
    registry = ToolRegistry([read_csv_file])
    assert registry.check_arguments("read_csv_file", {"path": "a.csv"}) == ()
    assert registry.check_arguments("read_csv_file", {"pth": "a.csv"}) == (
        "'pth' is not known. Did you mean 'path'?",
        "'path' is missing.",
    )


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("read files", "read_csv_file"),
        ("CSV", "read_csv_file"),
        ("add values by period", "trend_over_time"),
        ("date", "trend_over_time"),
        ("按月度看趋势", "trend_over_time"),
    ],
)
def test_search_finds_tools_in_both_languages(query: str, best: str) -> None:
    found = ToolRegistry([read_csv_file, trend_over_time]).search(query)
    assert found[0].name == best


def test_search_finds_nothing_rather_than_anything() -> None:
    registry = ToolRegistry([read_csv_file, trend_over_time])
    assert registry.search("weather") == []
    assert len(registry.search("table", limit=1)) == 1


def test_toolset_is_imported_when_first_needed(modules: Path) -> None:
    registry = ToolRegistry(toolsets=[write_tool(modules, "lazy_one", "echo")])
    assert "lazy_one" not in sys.modules
    assert registry.get("echo").toolset == "lazy_one"


def test_declared_tools_spare_the_import_of_other_toolsets(modules: Path) -> None:
    first = write_tool(modules, "declared_one", "echo_one")
    second = write_tool(modules, "declared_two", "echo_two")
    registry = ToolRegistry(
        toolsets=[
            Toolset(name="one", module=first.module, tools=("echo_one",)),
            Toolset(name="two", module=second.module, tools=("echo_two",)),
        ]
    )
    registry.get("echo_two")
    assert "declared_one" not in sys.modules
    assert [made.name for made in registry.tools()] == ["echo_two", "echo_one"]


def test_missing_package_is_listed_with_its_install_line() -> None:
    registry = ToolRegistry(
        toolsets=[
            Toolset(
                name="images",
                module="planloom.tools.nowhere",
                needs=("no_such_package",),
                extra="ocr",
                purpose="Reading text in pictures",
                tools=("read_image",),
            )
        ]
    )
    (unavailable,) = registry.unavailable()
    said = (
        "Reading text in pictures needs the 'no_such_package' package. "
        'Install with: pip install "planloom[ocr]"'
    )
    assert unavailable.message == said
    with pytest.raises(UnknownToolError, match=r"'read_image' cannot be used\. Reading text"):
        registry.get("read_image")


def test_toolset_that_cannot_be_imported_is_listed_with_the_reason(modules: Path) -> None:
    (modules / "broken_one.py").write_text("import no_such_module", encoding="utf-8")
    registry = ToolRegistry([read_csv_file], [Toolset(name="broken", module="broken_one")])
    assert registry.tools() == (read_csv_file,)
    (unavailable,) = registry.unavailable()
    assert "No module named 'no_such_module'" in unavailable.message
    assert unavailable.install_line == ""


def test_toolset_whose_name_is_taken_says_so_each_time(modules: Path) -> None:
    toolset = write_tool(modules, "clash_one", "read_csv_file")
    registry = ToolRegistry([read_csv_file], [toolset])
    for _ in range(2):
        with pytest.raises(ConfigError, match="of module 'clash_one' cannot be registered"):
            registry.tools()


def test_declared_name_that_is_taken_is_refused_at_once() -> None:
    toolset = Toolset(name="files", module="anything", tools=("read_csv_file",))
    with pytest.raises(ConfigError, match="'read_csv_file' of module 'anything'"):
        ToolRegistry([read_csv_file], [toolset])


def test_declaration_and_module_must_agree(modules: Path) -> None:
    made = write_tool(modules, "wrong_one", "echo")
    registry = ToolRegistry(toolsets=[Toolset(name="w", module=made.module, tools=("other",))])
    (unavailable,) = registry.unavailable()
    assert "declares the tools ['other'], but module 'wrong_one' defines ['echo']" in (
        unavailable.message
    )
