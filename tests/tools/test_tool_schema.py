from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, Union

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from planloom.analysis.results import Analysis
from planloom.errors import ConfigError
from planloom.tools.arguments import check_arguments
from planloom.tools.signature import Reference
from planloom.tools.tool import AnyTool, tool
from planloom.values import FileRef, ImageRef, TableRef


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


class Place(TypedDict):
    city: str
    zip: NotRequired[str]


class Person(BaseModel):
    name: str
    age: int = 0


@dataclass(frozen=True)
class Report:
    title: str


def properties(made: AnyTool) -> dict[str, Any]:
    return made.parameters["properties"]  # type: ignore[return-value]


@tool
def everything(
    *,
    whole: int,
    part: float,
    text: str,
    flag: bool,
    items: list[int],
    pair: tuple[int, str],
    table: dict[str, float],
    choice: Literal["a", "b"],
    size: Size,
    day: date,
    maybe: Optional[int] = None,  # noqa: UP045 -- users write both forms
    either: Union[int, str] = 1,  # noqa: UP007
    point: Point = Point(1.0),
    place: Place | None = None,
    person: Person | None = None,
    bounded: Annotated[int, Field(ge=1, le=9, description="Between.")] = 3,
    size_or: Size = Size.SMALL,
    path: Path = Path("out"),
    amount: Decimal = Decimal("1.50"),
) -> None:
    """Take everything."""


def test_types_become_schemas() -> None:
    shown = properties(everything)
    assert shown["whole"] == {"type": "integer"}
    assert shown["part"] == {"type": "number"}
    assert shown["items"] == {"type": "array", "items": {"type": "integer"}}
    assert shown["table"]["additionalProperties"] == {"type": "number"}
    assert shown["choice"] == {"type": "string", "enum": ["a", "b"]}
    assert shown["maybe"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert shown["bounded"] == {
        "type": "integer", "minimum": 1, "maximum": 9, "description": "Between.", "default": 3,
    }  # fmt: skip
    assert shown["point"]["default"] == {"x": 1.0, "y": 0.0}
    assert shown["size_or"]["default"] == "s"
    assert shown["path"]["default"] == "out"
    assert shown["amount"]["default"] == "1.50"


def test_parameters_without_default_are_required_and_others_forbidden() -> None:
    assert everything.parameters["required"] == [
        "whole", "part", "text", "flag", "items", "pair", "table", "choice", "size", "day",
    ]  # fmt: skip
    assert everything.parameters["additionalProperties"] is False


def test_unknown_keys_of_nested_objects_are_forbidden() -> None:
    definitions: Any = everything.parameters["$defs"]
    for name in ("Point", "Place", "Person"):
        assert definitions[name]["additionalProperties"] is False


GOOGLE = """Do it.

Args:
    path: The file
        to read.
"""
NUMPY = """Do it.

Parameters
----------
path : str
    The file
    to read.
"""
SPHINX = """Do it.

:param path: The file
    to read.
"""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX])
def test_descriptions_come_from_docstrings(docstring: str) -> None:
    def read(path: str) -> str:
        return path

    read.__doc__ = docstring
    made = tool(read)
    assert made.description == "Do it."
    assert properties(made)["path"]["description"] == "The file to read."


def test_parameter_names_that_pydantic_reserves_work() -> None:
    @tool
    def odd(copy: int, schema: str, model_config: str, title: str, _private: int = 1) -> None: ...

    assert list(properties(odd)) == ["copy", "schema", "model_config", "title", "_private"]
    given = {"copy": 1, "schema": "s", "model_config": "m", "title": "t"}
    assert odd.arguments_schema.decode(given) == given


def test_models_see_references_as_texts() -> None:
    @tool
    def draw(
        table: TableRef,
        more: list[TableRef],
        analysis: Analysis | None,
        picture: ImageRef,
        file: FileRef,
        report: Annotated[Report, Reference("report")],
        point: Point,
    ) -> ImageRef:
        """Draw.

        Args:
            table: What to draw.
        """
        raise NotImplementedError

    function: Any = draw.model_schema()["function"]
    shown = function["parameters"]["properties"]
    text = "a reference to the result of an earlier step, such as $c1."
    assert shown["table"] == {"type": "string", "description": f"What to draw. A table: {text}"}
    assert shown["more"]["items"] == {"type": "string", "description": f"A table: {text}"}
    assert shown["analysis"]["anyOf"][0]["type"] == "string"
    assert shown["picture"]["description"] == f"An image: {text}"
    assert shown["report"] == {"type": "string", "description": f"A report: {text}"}
    assert shown["point"] == {"$ref": "#/$defs/Point"}
    assert list(function["parameters"]["$defs"]) == ["Point"]
    assert "x-planloom-kind" not in str(draw.parameters)
    assert draw.signature_line().startswith("draw(table, more: list[table], analysis: table | None")


def test_tool_without_parameters_has_an_empty_object_schema() -> None:
    @tool
    def now() -> datetime:
        return datetime.now()  # noqa: DTZ005

    assert now.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert check_arguments(now, {}) == ()
    assert check_arguments(now, {"zone": "UTC"}) == ("'zone' is not known.",)


def test_type_without_json_form_is_refused() -> None:
    @tool
    def act(stream: ToolHandle) -> None: ...

    with pytest.raises(
        ConfigError, match=r"tool 'act' has a type that JSON cannot carry.*ToolHandle"
    ):
        _ = act.parameters


def test_default_without_json_form_is_refused() -> None:
    @tool
    def act(limit: float = float("inf")) -> None: ...

    with pytest.raises(ConfigError, match="default of 'limit' of tool 'act' has no JSON form"):
        _ = act.parameters


class ToolHandle:
    pass
