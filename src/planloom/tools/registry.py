"""The tools that a run may use, by name."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from planloom.errors import ConfigError, UnknownToolError
from planloom.tools.search import best_matches
from planloom.tools.tool import AnyTool
from planloom.tools.toolsets import Toolset, UnavailableToolset

if TYPE_CHECKING:
    from planloom.tools.codec import JsonValue

_LISTED = 40


class ToolRegistry:
    """Registers, finds and describes tools.

    Toolsets are imported when they are first needed; one whose packages are missing is listed by
    `unavailable`, and asking for one of its tools says how to install them.
    """

    def __init__(self, tools: Iterable[AnyTool] = (), toolsets: Iterable[Toolset] = ()):
        self._tools: dict[str, AnyTool] = {}
        self._waiting: dict[str, Toolset] = {}
        self._replacing: set[str] = set()
        self._unavailable: dict[str, UnavailableToolset] = {}
        # A runner looks tools up in a thread, since importing a toolset may take long.
        self._loading = threading.RLock()
        for tool in tools:
            self.register(tool)
        for toolset in toolsets:
            self.add_toolset(toolset)

    def register(self, tool: AnyTool, *, replace: bool = False) -> None:
        """Make a tool known under its name.

        A tool that was replaced stays so, also when a toolset that holds one of its name is
        loaded later.

        Raises:
            ConfigError: another tool has that name, and `replace` is false.
        """
        self._load(self._declaring(tool.name))
        if replace:
            self._replacing.add(tool.name)
        known = self._tools.get(tool.name)
        if known is not None and known is not tool and not replace:
            raise ConfigError(_taken_text(tool.name, tool.module, known.module))
        self._tools[tool.name] = tool

    def add_toolset(self, toolset: Toolset) -> None:
        """Make a toolset known; its module is imported when one of its tools is needed.

        Raises:
            ConfigError: one of the tools that it declares has a name that is taken.
        """
        taken = [self._tools[name] for name in toolset.tools if name in self._tools]
        if taken:
            raise ConfigError(_taken_text(taken[0].name, toolset.module, taken[0].module))
        missing = toolset.missing()
        if missing:
            self._unavailable[toolset.name] = UnavailableToolset(toolset=toolset, missing=missing)
        else:
            self._waiting[toolset.name] = toolset

    def get(self, name: str) -> AnyTool:
        """Return the tool called `name`.

        Raises:
            UnknownToolError: there is none; lists what there is, with the nearest name.
        """
        if name not in self._tools:
            self._load_for(name)
        if name not in self._tools:
            raise UnknownToolError(self._unknown(name))
        return self._tools[name]

    def tools(self) -> tuple[AnyTool, ...]:
        """Return every tool that can be used, in the order of registration."""
        self._load(list(self._waiting.values()))
        return tuple(self._tools.values())

    def search(self, query: str, limit: int = 5) -> list[AnyTool]:
        """Return the tools that share words with `query`, best first.

        Words of names and keywords count more than those of descriptions and parameters; the
        query may be English or Chinese.
        """
        return best_matches(query, self.tools(), limit)

    def unavailable(self) -> tuple[UnavailableToolset, ...]:
        """Return the toolsets that cannot be used here, each with the line that installs it."""
        self._load(list(self._waiting.values()))
        return tuple(self._unavailable.values())

    def schemas(self) -> list[dict[str, JsonValue]]:
        """Return every tool as a language model is told of it, in OpenAI's form."""
        return [tool.model_schema() for tool in self.tools()]

    def check_arguments(
        self, name: str, arguments: Mapping[str, object], *, pending: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Return what is wrong with the arguments of a call; empty when they fit.

        Each text names the argument, what is wrong, the value and the mend. `pending` names
        arguments whose values are not known yet, such as references in a plan.

        Raises:
            UnknownToolError: there is no tool called `name`.
        """
        # Loads pydantic and jsonschema_rs, which a start without a tool call need not pay for.
        from planloom.tools.arguments import check_arguments

        return check_arguments(self.get(name), arguments, pending=pending)

    def _declaring(self, name: str) -> list[Toolset]:
        return [toolset for toolset in self._waiting.values() if name in toolset.tools]

    def _load_for(self, name: str) -> None:
        undeclared = [toolset for toolset in self._waiting.values() if not toolset.tools]
        self._load(self._declaring(name) or undeclared)

    def _load(self, toolsets: Iterable[Toolset]) -> None:
        with self._loading:
            for toolset in toolsets:
                if toolset.name in self._waiting:
                    self._load_one(toolset)

    def _load_one(self, toolset: Toolset) -> None:
        try:
            tools = toolset.load()
        except ConfigError as error:
            del self._waiting[toolset.name]
            self._unavailable[toolset.name] = UnavailableToolset(
                toolset=toolset, missing=(), reason=str(error)
            )
        else:
            self._register_all(toolset, tools)

    def _register_all(self, toolset: Toolset, tools: Iterable[AnyTool]) -> None:
        # It waits no longer, so that registering its tools does not load it again; a name that
        # is taken puts it back, and the next use says so again.
        del self._waiting[toolset.name]
        try:
            for tool in tools:
                if tool.name not in self._replacing:
                    self.register(tool)
        except ConfigError:
            self._waiting[toolset.name] = toolset
            raise

    def _unknown(self, name: str) -> str:
        for unavailable in self._unavailable.values():
            if name in unavailable.toolset.tools:
                return f"Tool '{name}' cannot be used. {unavailable.message}"
        names = sorted(tool.name for tool in self.tools())
        near = get_close_matches(name.lower(), names, n=1)
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        listed = ", ".join(names[:_LISTED]) + more if names else "none"
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return f"Tool '{name}' is not registered. Registered: {listed}.{hint}"


def _taken_text(name: str, module: str, owner: str) -> str:
    return (
        f"Tool '{name}' of module '{module}' cannot be registered: module '{owner}' registered a "
        "tool of that name before. Give one of them another name with @tool(name=...), or pass "
        "replace=True."
    )
