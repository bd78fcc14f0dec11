"""The JSON Schema of a tool's arguments, and the decoding of arguments by the same types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from planloom.errors import ArgumentError, ConfigError, ToolError
from planloom.tools.codec import JsonValue, encode, shown
from planloom.tools.signature import CLASS_MARK, KIND_MARK, Parameter, reference_kind

_MAPS = ("properties", "patternProperties", "$defs", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = (
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)

JsonSchema = dict[str, JsonValue]


@dataclass(frozen=True, eq=False)
class ArgumentsSchema:
    """What a tool's arguments must look like, and how they become Python values."""

    full: JsonSchema
    """JSON Schema 2020-12; references are the objects they stand for."""
    for_models: JsonSchema
    """The same for a language model: references are texts."""
    marked: JsonSchema
    """`full` with marks (`KIND_MARK`, `CLASS_MARK`) on what stands for a reference or a class."""
    _model: type[BaseModel]
    _names: tuple[str, ...]

    @classmethod
    def of(
        cls, tool: str, parameters: tuple[Parameter, ...], descriptions: Mapping[str, str]
    ) -> ArgumentsSchema:
        """Build the schema of a tool's parameters; `descriptions` come from its docstring.

        Raises:
            ConfigError: a type or a default has no JSON form.
        """
        try:
            model = _arguments_model(tool, parameters)
            raw = model.model_json_schema(schema_generator=_MarkingGenerator)
        except PydanticUserError as error:
            # Its first line says what to use, also for a TypedDict of an older Python.
            raise ConfigError(
                f"The signature of tool '{tool}' has a type that JSON cannot carry: "
                f"{str(error).splitlines()[0]}"
            ) from error
        schema = cast("JsonSchema", raw)
        _describe(schema, parameters, descriptions, tool)
        names = tuple(parameter.name for parameter in parameters)
        return cls(_full(schema), _for_models(schema), schema, model, names)

    def decode(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return typed values of arguments that passed the JSON Schema; only those given.

        Raises:
            ArgumentError: a value does not fit its type; lists every problem.
        """
        try:
            values = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ArgumentError("\n".join(_findings(error))) from error
        given = values.model_fields_set
        return {
            name: getattr(values, field) for field, name in _fields(self._names) if field in given
        }


def _fields(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    # Fields are numbered because pydantic reserves names that a parameter may well have ("copy").
    return ((f"argument_{index}", name) for index, name in enumerate(names))


def _arguments_model(tool: str, parameters: tuple[Parameter, ...]) -> type[BaseModel]:
    by_name = {parameter.name: parameter for parameter in parameters}
    fields: dict[str, Any] = {}
    for field, name in _fields(by_name):
        default = ... if by_name[name].required else None
        fields[field] = (by_name[name].annotation, Field(default, alias=name))
    return create_model(f"{tool}_arguments", **fields)


def _findings(error: ValidationError) -> Iterator[str]:
    for detail in error.errors(include_url=False, include_context=False):
        name, *inner = detail["loc"]
        place = f"'{name}'" + "".join(f"[{part!r}]" for part in inner)
        yield f"{place}: {detail['msg']}, got {shown(detail['input'])}"


class _MarkingGenerator(GenerateJsonSchema):
    """Marks references, so that models can be shown a text in their place, and classes."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return super().model_schema(schema) | {CLASS_MARK: True}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        made = super().dataclass_schema(schema) | {CLASS_MARK: True}
        kind = reference_kind(schema["cls"])
        return made | {KIND_MARK: kind} if kind else made


def _describe(
    schema: JsonSchema, parameters: Iterable[Parameter], descriptions: Mapping[str, str], tool: str
) -> None:
    properties = cast("dict[str, JsonSchema]", schema.setdefault("properties", {}))
    for parameter in parameters:
        node = properties[parameter.name]
        if text := descriptions.get(parameter.name):
            node.setdefault("description", text)
        node.pop("default", None)
        if not parameter.required:
            node["default"] = _default(parameter, tool)


def _default(parameter: Parameter, tool: str) -> JsonValue:
    try:
        return encode(parameter.default)
    except ToolError as error:
        raise ConfigError(
            f"The default of '{parameter.name}' of tool '{tool}' has no JSON form: {error}"
        ) from error


def _full(schema: JsonSchema) -> JsonSchema:
    return _rebuilt(schema, _closed)


def _closed(node: JsonSchema) -> JsonSchema:
    # A key that the type does not have is a slip of the caller, not something to drop.
    # References stay open: an Analysis is given where a TableRef is asked for.
    if "properties" in node and KIND_MARK not in node:
        node.setdefault("additionalProperties", False)
    node.pop(KIND_MARK, None)
    node.pop(CLASS_MARK, None)
    node.pop("title", None)
    return node


def _for_models(schema: JsonSchema) -> JsonSchema:
    definitions = cast("dict[str, JsonSchema]", schema.get("$defs", {}))
    kinds = {
        f"#/$defs/{name}": node[KIND_MARK]
        for name, node in definitions.items()
        if KIND_MARK in node
    }

    def by_reference(node: JsonSchema) -> JsonSchema:
        kind = node.get(KIND_MARK) or kinds.get(str(node.get("$ref")))
        return _reference_text(node, str(kind)) if kind else _closed(node)

    return _without_unused(_rebuilt(schema, by_reference))


def _reference_text(node: JsonSchema, kind: str) -> JsonSchema:
    article = "An" if kind[0] in "aeiou" else "A"
    text = f"{article} {kind}: a reference to the result of an earlier step, such as $c1."
    said = node.get("description") if "$ref" in node else None
    kept: JsonSchema = {key: node[key] for key in ("default",) if key in node}
    return {"type": "string", "description": f"{said} {text}" if said else text} | kept


def _rebuilt(node: JsonSchema, change: Callable[[JsonSchema], JsonSchema]) -> JsonSchema:
    """Return a copy of a schema in which `change` was applied to each subschema."""
    copy: JsonSchema = dict(node)
    for key, value in node.items():
        if key in _MAPS and isinstance(value, dict):
            copy[key] = {name: _rebuilt_any(part, change) for name, part in value.items()}
        elif key in _LISTS and isinstance(value, list):
            copy[key] = [_rebuilt_any(part, change) for part in value]
        elif key in _SINGLES:
            copy[key] = _rebuilt_any(value, change)
    return change(copy)


def _rebuilt_any(node: JsonValue, change: Callable[[JsonSchema], JsonSchema]) -> JsonValue:
    return _rebuilt(node, change) if isinstance(node, dict) else node


def _without_unused(schema: JsonSchema) -> JsonSchema:
    """Return a schema without the definitions that nothing in it refers to."""
    definitions = cast("dict[str, JsonSchema]", schema.pop("$defs", {}))
    used: dict[str, JsonValue] = {}
    waiting = _definition_names(schema)
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = definitions[name]
            waiting |= _definition_names(definitions[name])
    return {**schema, "$defs": used} if used else schema


def _definition_names(schema: JsonSchema) -> set[str]:
    found: set[str] = set()

    def note(node: JsonSchema) -> JsonSchema:
        reference = node.get("$ref")
        if isinstance(reference, str):
            found.add(reference.removeprefix("#/$defs/"))
        return node

    _rebuilt(schema, note)
    return found
