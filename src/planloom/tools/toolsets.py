"""Groups of built-in tools that are imported when they are first needed, if they can be."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from planloom.errors import ConfigError
from planloom.tools.tool import AnyTool, Tool


@dataclass(frozen=True, kw_only=True)
class Toolset:
    """A module of tools, and the packages that it cannot work without."""

    name: str
    module: str
    """Module to import; each `Tool` that it defines at its top level belongs to the toolset."""
    needs: tuple[str, ...] = ()
    """Import names of packages that must be installed."""
    extra: str = ""
    """The extra of Planloom that installs them, such as "ocr"."""
    purpose: str = ""
    """What it is for, as the subject of a sentence: "Reading text in pictures"."""
    tools: tuple[str, ...] = ()
    """Names of its tools, so that asking for another tool need not import the module."""

    def missing(self) -> tuple[str, ...]:
        """Return the needed packages that are not installed; nothing is imported."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)

    def load(self) -> tuple[AnyTool, ...]:
        """Import the module and return its tools in the order of their definition.

        Raises:
            ConfigError: the module cannot be imported, or has other tools than were declared.
        """
        try:
            module = importlib.import_module(self.module)
        except ImportError as error:
            raise ConfigError(f"Toolset '{self.name}' cannot be imported: {error}") from error
        everything = cast("Iterable[object]", vars(module).values())
        tools = (cast("AnyTool", value) for value in everything if isinstance(value, Tool))
        found = tuple(tool for tool in tools if tool.module == self.module)
        names = {tool.name for tool in found}
        if self.tools and names != set(self.tools):
            raise ConfigError(
                f"Toolset '{self.name}' declares the tools {sorted(self.tools)}, but module "
                f"'{self.module}' defines {sorted(names)}. Make them agree."
            )
        return found


@dataclass(frozen=True, kw_only=True)
class UnavailableToolset:
    """A toolset that cannot be used on this machine, and what would change that."""

    toolset: Toolset
    missing: tuple[str, ...]
    """Packages that are not installed; empty when the import failed for another reason."""
    reason: str = ""
    """Why the import failed."""

    @property
    def install_line(self) -> str:
        """The command that installs what is missing; "" when that would not help."""
        if not self.missing:
            return ""
        extra = self.toolset.extra
        wanted = f'"planloom[{extra}]"' if extra else " ".join(self.missing)
        return f"pip install {wanted}"

    @property
    def message(self) -> str:
        """What is missing and what to do, in one or two sentences."""
        subject = self.toolset.purpose or f"Toolset '{self.toolset.name}'"
        if not self.missing:
            return f"{subject} is not available: {self.reason}"
        packages = " and ".join(f"'{name}'" for name in self.missing)
        noun = "package" if len(self.missing) == 1 else "packages"
        return f"{subject} needs the {packages} {noun}. Install with: {self.install_line}"
