"""What a function's signature and docstring say about a tool, read without heavy packages."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from planloom.errors import ConfigError
from planloom.tools.context import ToolContext
from planloom.values import Fact, FileRef, ImageRef, TableRef

REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""

KIND_MARK = "x-planloom-kind"
"""Marks, while a schema is built, an object that models pass by reference."""
CLASS_MARK = "x-planloom-class"
"""Marks, while a schema is built, an object that becomes a value of a Python class."""
Frame: TypeAlias = types.FrameType | None

_REFERENCE_KINDS = ((TableRef, "table"), (ImageRef, "image"), (FileRef, "file"), (Fact, "fact"))
_SHORT_DEFAULT = 24


@dataclass(frozen=True)
class Reference:
    """Marks a type that a model passes as a reference to an earlier result, never spelled out.

    `Annotated[Report, Reference("report")]` makes a parameter or a result of that kind;
    `TableRef`, `ImageRef`, `FileRef` and `Fact` are references by themselves.
    """

    kind: str

    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[object], dict[str, object]]
    ) -> dict[str, object]:
        return handler(core_schema) | {KIND_MARK: self.kind}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a tool, as its caller sees it."""

    name: str
    annotation: object
    """The resolved type, with its `Annotated` metadata."""
    default: object = REQUIRED

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is REQUIRED

    @property
    def kind(self) -> str | None:
        """Kind of the reference that it takes, such as "table"; None for a plain value."""
        return reference_kind(self.annotation)


def check_signature(function: Callable[..., object], name: str) -> None:
    """Refuse a function that no schema can describe.

    Raises:
        ConfigError: names the tool, the parameter and the mend.
    """
    if not inspect.isroutine(function):
        raise ConfigError(
            f"Tool '{name}' is made of a {type(function).__name__}, not of a function. "
            "Wrap it in a function with typed parameters."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"Tool '{name}' is a generator. Return a list in place of yielding.")
    for parameter in _raw_parameters(function):
        _check_parameter(parameter, name)


def check_result(annotation: object, name: str) -> None:
    """Refuse a type of results that has no JSON form, as far as the type alone tells.

    Raises:
        ConfigError: names the tool, the type and the mend.
    """
    for member in union_members(annotation):
        origin, arguments = get_origin(member), get_args(member)
        if member is bytes or member is bytearray or member is memoryview:
            raise _no_json(name, member, "Return text, or write a file and return a FileRef.")
        if sys.version_info < (3, 12) and _is_typing_dict(member):
            raise _no_json(name, member, "Take TypedDict from typing_extensions.")
        if origin is Literal:
            continue
        if _is_mapping(origin) and arguments and not _has_text_keys(arguments[0]):
            raise _no_json(name, member, "Keys of JSON are texts: use dict[str, ...].")
        for argument in arguments:
            check_result(argument, name)


def _no_json(tool: str, annotation: object, mend: str) -> ConfigError:
    return ConfigError(
        f"Tool '{tool}' returns {type_text(annotation)}, which has no JSON form. {mend}"
    )


def _is_typing_dict(annotation: object) -> bool:
    return typing.is_typeddict(annotation) and type(annotation).__module__ == "typing"


def _is_mapping(origin: object) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _has_text_keys(annotation: object) -> bool:
    return all(map(_is_text_key, union_members(annotation)))


def _is_text_key(key: object) -> bool:
    if get_origin(key) is Literal:
        return all(isinstance(choice, str) for choice in get_args(key))
    if key is Any or isinstance(key, TypeVar):
        return True
    return isinstance(key, type) and (key is object or issubclass(key, str))


def _check_parameter(parameter: inspect.Parameter, tool: str) -> None:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise ConfigError(
            f"Tool '{tool}' takes '{stars}{name}', which has no schema. "
            f"Name each parameter, or take one list: '{name}: list[str]'."
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ConfigError(
            f"Parameter '{name}' of tool '{tool}' is positional only, but arguments come by name. "
            "Remove the '/' from the signature."
        )
    if parameter.annotation is parameter.empty:
        mend = (
            "Register the bound method: tool(object.method)."
            if name in ("self", "cls")
            else f"Write its type, such as '{name}: str'."
        )
        raise ConfigError(f"Parameter '{name}' of tool '{tool}' has no type. {mend}")


def _raw_parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    return list(_raw_signature(function).parameters.values())


def _raw_signature(function: Callable[..., object]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        # Annotations are evaluated late there, and may name what is not defined yet.
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def resolve_types(
    function: Callable[..., object], name: str, local_names: Mapping[str, object]
) -> dict[str, object]:
    """Return the types of a function's parameters and of its result ("return"), by name.

    `local_names` are names of the place where the function was defined, for annotations written
    as text that name local types.

    Raises:
        ConfigError: an annotation names something that is not defined.
    """
    try:
        return typing.get_type_hints(function, localns=dict(local_names), include_extras=True)
    except (NameError, AttributeError, SyntaxError) as error:
        raise ConfigError(
            f"A type in the signature of tool '{name}' cannot be found: {error}. "
            "Define or import it at module level, not only under TYPE_CHECKING."
        ) from error


def read_parameters(
    function: Callable[..., object], hints: Mapping[str, object]
) -> tuple[Parameter, ...]:
    """Return the parameters that a caller gives, in order, without a `ToolContext`."""
    return tuple(
        Parameter(name=raw.name, annotation=hints[raw.name], default=raw.default)
        for raw in _raw_parameters(function)
        if not _is_context(hints[raw.name])
    )


def context_parameter(hints: Mapping[str, object]) -> str | None:
    """Return the name of the parameter that takes the `ToolContext`, if there is one."""
    for name, annotation in hints.items():
        if name != "return" and _is_context(annotation):
            return name
    return None


def _is_context(annotation: object) -> bool:
    return any(member is ToolContext for member in union_members(annotation))


def union_members(annotation: object) -> list[object]:
    """Return the alternatives of a type, without `Annotated`; a plain type is its only one."""
    if get_origin(annotation) is Annotated:
        return union_members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in union_members(part)]
    return [annotation]


def reference_kind(annotation: object) -> str | None:
    """Return the kind of thing that a type refers to, such as "table"; None for plain values.

    >>> reference_kind(TableRef | None), reference_kind(int)
    ('table', None)
    """
    if get_origin(annotation) is Annotated:
        base, *metadata = get_args(annotation)
        marks = (mark.kind for mark in metadata if isinstance(mark, Reference))
        return next(marks, None) or reference_kind(base)
    members = union_members(annotation)
    if len(members) > 1:
        return next((kind for kind in map(reference_kind, members) if kind), None)
    return _class_kind(annotation) if isinstance(annotation, type) else None


def _class_kind(cls: type) -> str | None:
    return next((kind for base, kind in _REFERENCE_KINDS if issubclass(cls, base)), None)


def type_text(annotation: object) -> str:
    """Return a type in the few words that a model needs.

    >>> type_text(list[str] | None), type_text(Literal["line", "bar"]), type_text(TableRef)
    ('list[str] | None', "'line' | 'bar'", 'table')
    """
    kind = reference_kind(annotation)
    members = union_members(annotation)
    if len(members) > 1:
        return " | ".join(type_text(member) for member in members)
    if kind:
        return kind
    return _plain_type_text(members[0])


def _plain_type_text(bare: object) -> str:
    name = _name(get_origin(bare) or bare)
    if bare is None or bare is type(None):
        return "None"
    if bare is Any or bare is object:
        return "any"
    if get_origin(bare) is Literal:
        return " | ".join(repr(choice) for choice in get_args(bare))
    if isinstance(bare, type) and issubclass(bare, Enum):
        return " | ".join(repr(choice.value) for choice in bare)
    arguments = ", ".join("..." if part is ... else type_text(part) for part in get_args(bare))
    return f"{name}[{arguments}]" if arguments else name


def _name(bare: object) -> str:
    return getattr(bare, "__name__", str(bare))


def signature_text(name: str, parameters: tuple[Parameter, ...], result: object) -> str:
    """Return a call's shape on one line: `share(table, category: str, top: int = 5) -> table`."""
    shown = ", ".join(_parameter_text(parameter) for parameter in parameters)
    return f"{name}({shown}) -> {type_text(result)}"


def _parameter_text(parameter: Parameter) -> str:
    text = type_text(parameter.annotation)
    head = parameter.name if text == parameter.name else f"{parameter.name}: {text}"
    if parameter.required:
        return head
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    shown = repr(default)
    return f"{head} = {shown if len(shown) <= _SHORT_DEFAULT else '...'}"


def summary(docstring: str | None) -> str:
    """Return the first paragraph of a docstring as one line, "" without a docstring."""
    paragraph = inspect.cleandoc(docstring or "").split("\n\n", 1)[0]
    return " ".join(paragraph.split())


def parameter_descriptions(docstring: str | None) -> dict[str, str]:
    """Return what a Google, NumPy or Sphinx docstring says of each parameter, on one line each."""
    if not docstring:
        return {}
    import docstring_parser

    parsed = docstring_parser.parse(docstring)
    return {
        param.arg_name: " ".join(param.description.split())
        for param in parsed.params
        if param.description
    }


def calling_frame() -> Frame:
    """Return the frame that called the caller of this function."""
    here = inspect.currentframe()
    return here.f_back.f_back if here and here.f_back else None


def local_names(function: Callable[..., object], frame: Frame) -> dict[str, object]:
    """Return the local names of `frame` that the function's written annotations mention.

    Only these are kept: a whole frame would keep everything in it alive.
    """
    if frame is None or "<locals>" not in getattr(function, "__qualname__", ""):
        return {}
    signature = _raw_signature(function)
    written = [raw.annotation for raw in signature.parameters.values()]
    texts = [text for text in (*written, signature.return_annotation) if isinstance(text, str)]
    mentioned = {name for text in texts for name in _names_in(text)}
    return {name: frame.f_locals[name] for name in mentioned if name in frame.f_locals}


def _names_in(annotation: str) -> tuple[str, ...]:
    try:
        return compile(annotation, "<annotation>", "eval").co_names
    except SyntaxError:
        return ()  # resolving the types says what is wrong, with the tool's name
