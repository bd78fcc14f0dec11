"""A tool: a typed Python function with what an engine has to know before it may run it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Generic,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
    overload,
)

from planloom.errors import ConfigError
from planloom.tools import signature as _signature
from planloom.tools.options import Approval, Effect, Isolation, check_choice, check_options
from planloom.tools.signature import Parameter

if TYPE_CHECKING:
    from planloom.tools.codec import JsonValue
    from planloom.tools.schema import ArgumentsSchema

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

_REPEATABLE: tuple[Effect, ...] = ("pure", "read")
_DEFAULT_RETRIES: Mapping[Effect, int] = {"read": 2}


@dataclass(frozen=True, eq=False, kw_only=True)
class Tool(Generic[P, R_co]):
    """A function with a description, limits and rules; calling it calls the function.

    Two tools are equal only when they are the same object.
    """

    name: str
    """Letters, digits and underscores, at most 64: plans write it like a Python function."""
    function: Callable[P, R_co]
    description: str = ""
    """First paragraph of the docstring."""
    effect: Effect = "pure"
    timeout_s: float = 30
    """Time limit of one attempt; what runs longer is ended."""
    retries: int = 0
    """Extra attempts after the first failure; 0 unless the effect may be repeated."""
    idempotent: bool = False
    """Whether a second call with the same key changes nothing more."""
    cache_s: float = 0
    """How long a result may be used again for the same arguments; 0 means never.

    Kept for the engine's result cache; not used by this version: every call runs.
    """
    approval: Approval = "policy"
    compensation: str | None = None
    """Name of the tool that undoes a call, when a run is rolled back."""
    isolation: Isolation = "auto"
    toolset: str = ""
    """The group it is listed under; by default the last part of its module's name."""
    keywords: tuple[str, ...] = ()
    """Further words that a search finds it by, such as its purpose in another language."""
    local_names: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    """Names of the defining function that annotations mention; see `signature.local_names`."""

    def __post_init__(self) -> None:
        check_options(self)
        _check_limits(self)
        _check_isolation(self)
        _signature.check_signature(self.function, self.name)
        _check_result(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function as it is: no validation, no limit."""
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[P, R_co]:
        # inspect.signature, help() and doctest look through a wrapper by this name.
        return self.function

    @property
    def module(self) -> str:
        """The module that defines the function."""
        return getattr(self.function, "__module__", "")

    @property
    def location(self) -> str:
        """Where the function stands, as "module:qualified.name"."""
        return f"{self.module}:{getattr(self.function, '__qualname__', self.name)}"

    @property
    def runs_in(self) -> Literal["async", "thread", "process"]:
        """Where a call runs, once "auto" is decided."""
        if self.isolation != "auto":
            return self.isolation
        return "async" if inspect.iscoroutinefunction(self.function) else "thread"

    @cached_property
    def types(self) -> Mapping[str, object]:
        """The resolved annotations by parameter name, and "return" for the result."""
        return _signature.resolve_types(self.function, self.name, self.local_names)

    @cached_property
    def inputs(self) -> tuple[Parameter, ...]:
        """The parameters that a caller gives, in the order of the signature."""
        return _signature.read_parameters(self.function, self.types)

    @cached_property
    def context_parameter(self) -> str | None:
        """Name of the parameter that takes the `ToolContext`; None when there is none."""
        return _signature.context_parameter(self.types)

    @property
    def result_type(self) -> object:
        """The annotation of the result; `object` when the function has none."""
        return self.types.get("return", object)

    @property
    def result_kind(self) -> str | None:
        """Kind of the reference that it returns, such as "table"; None for a plain value."""
        return _signature.reference_kind(self.result_type)

    @cached_property
    def arguments_schema(self) -> ArgumentsSchema:
        """Checks and decodes the arguments of a call."""
        from planloom.tools.schema import ArgumentsSchema

        descriptions = _signature.parameter_descriptions(inspect.getdoc(self.function))
        return ArgumentsSchema.of(self.name, self.inputs, descriptions)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """JSON Schema (2020-12) of the arguments, references as the objects they stand for."""
        return self.arguments_schema.full

    def model_schema(self) -> dict[str, JsonValue]:
        """Return the tool as OpenAI's `tools` takes it; references are texts such as "$load"."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.arguments_schema.for_models,
            },
        }

    def signature_line(self) -> str:
        """Return the call's shape on one line, for prompts and messages."""
        return _signature.signature_text(self.name, self.inputs, self.result_type)


AnyTool: TypeAlias = Tool[..., object]
"""A tool whose signature does not matter to the reader."""


@overload
def tool(function: Callable[P, R_co], /) -> Tool[P, R_co]: ...


@overload
def tool(
    *,
    name: str | None = None,
    effect: Effect = "pure",
    timeout_s: float = 30,
    retries: int | None = None,
    idempotent: bool | None = None,
    cache_s: float = 0,
    approval: Approval = "policy",
    compensation: str | None = None,
    isolation: Isolation = "auto",
    toolset: str | None = None,
    keywords: tuple[str, ...] = (),
) -> Callable[[Callable[P, R_co]], Tool[P, R_co]]: ...


def tool(  # noqa: PLR0913 -- each option is one field of Tool
    function: Callable[P, R_co] | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect = "pure",
    timeout_s: float = 30,
    retries: int | None = None,
    idempotent: bool | None = None,
    cache_s: float = 0,
    approval: Approval = "policy",
    compensation: str | None = None,
    isolation: Isolation = "auto",
    toolset: str | None = None,
    keywords: tuple[str, ...] = (),
) -> Tool[P, R_co] | Callable[[Callable[P, R_co]], Tool[P, R_co]]:
    """Make a tool of a function; use it bare or with options.

    >>> @tool(effect="read", timeout_s=5)
    ... def word_count(text: str) -> int:
    ...     "Count the words of a text."
    ...     return len(text.split())
    >>> word_count("as before"), word_count.signature_line()
    (2, 'word_count(text: str) -> int')

    `retries` is 2 for the effect "read", else 0; `idempotent` is true for "pure" and "read".

    Raises:
        ConfigError: the signature or an option does not work for a tool; says what does.
    """

    def decorate(function: Callable[P, R_co], frame: _signature.Frame) -> Tool[P, R_co]:
        check_choice(effect, get_args(Effect), "@tool: effect")  # others depend on it
        return Tool(
            name=name or getattr(function, "__name__", type(function).__name__),
            function=function,
            description=_signature.summary(inspect.getdoc(function)),
            effect=effect,
            timeout_s=timeout_s,
            retries=_DEFAULT_RETRIES.get(effect, 0) if retries is None else retries,
            idempotent=effect in _REPEATABLE if idempotent is None else idempotent,
            cache_s=cache_s,
            approval=approval,
            compensation=compensation,
            isolation=isolation,
            toolset=_default_toolset(function) if toolset is None else toolset,
            keywords=keywords,
            local_names=_signature.local_names(function, frame),
        )

    if function is not None:
        return decorate(function, _signature.calling_frame())
    return lambda function: decorate(function, _signature.calling_frame())


def _default_toolset(function: Callable[..., object]) -> str:
    module = getattr(function, "__module__", "")
    return "" if module == "__main__" else module.rpartition(".")[2]


def _check_result(tool: AnyTool) -> None:
    # Before the tool is ever called: its effect could not be taken back.
    try:
        result = tool.result_type
    except ConfigError:
        return  # names something that is defined further down; it is resolved when first needed
    _signature.check_result(result, tool.name)


def _check_limits(tool: AnyTool) -> None:
    if not tool.timeout_s > 0:
        raise ConfigError(f"Tool '{tool.name}': timeout_s must be above 0, got {tool.timeout_s}.")
    if tool.retries < 0 or tool.cache_s < 0:
        raise ConfigError(f"Tool '{tool.name}': retries and cache_s must not be negative.")
    if tool.retries and tool.effect not in _REPEATABLE and not tool.idempotent:
        # Sending mail twice is worse than failing.
        raise ConfigError(
            f"Tool '{tool.name}' has the effect '{tool.effect}' and may not be retried "
            f"{tool.retries} times: a second attempt could repeat the effect. Set retries=0, or "
            "idempotent=True if the tool uses ToolContext.key to do it once."
        )
    if tool.cache_s and tool.effect not in _REPEATABLE:
        raise ConfigError(
            f"Tool '{tool.name}' has the effect '{tool.effect}': a cached result would skip it. "
            "Set cache_s=0."
        )


def _check_isolation(tool: AnyTool) -> None:
    is_async = inspect.iscoroutinefunction(tool.function)
    if tool.isolation == "async" and not is_async:
        raise ConfigError(
            f"Tool '{tool.name}' is not an 'async def' function and would block the event loop. "
            'Use isolation="thread" or "process".'
        )
    if tool.isolation == "thread" and is_async:
        raise ConfigError(
            f"Tool '{tool.name}' is an 'async def' function. "
            'Use isolation="async" or "process".'
        )
    if tool.isolation == "process":
        _check_importable(tool)


def _check_importable(tool: AnyTool) -> None:
    name = getattr(tool.function, "__qualname__", "<locals>")
    if "<" not in name and tool.module != "__main__" and not inspect.ismethod(tool.function):
        return
    raise ConfigError(
        f"Tool '{tool.name}' cannot have isolation=\"process\": a worker process imports it by "
        f"name, and '{tool.location}' cannot be imported. Move the function to the top level of a "
        "module beside your script."
    )
