"""`planloom tools`: every tool with its effect, and those that cannot be used with the reason."""

from __future__ import annotations

import json as json_format

from planloom.notes import Lang, Note
from planloom.tools.builtin import builtin_registry
from planloom.tools.registry import ToolRegistry


def run(*, json: bool, lang: Lang) -> int:
    """Print the list and return the exit code."""
    registry = builtin_registry()
    if json:
        print(json_format.dumps(_as_json(registry), ensure_ascii=False, indent=1))
    else:
        _print_text(registry, lang)
    return 0


def _as_json(registry: ToolRegistry) -> dict[str, object]:
    return {
        "schema": 1,
        "tools": [
            {
                "name": tool.name, "toolset": tool.toolset, "effect": tool.effect,
                "state": "ready", "approval": tool.approval, "timeout_s": tool.timeout_s,
                "description": tool.description, "parameters": tool.parameters,
            }
            for tool in registry.tools()
        ],
        "unavailable": [
            {
                "toolset": part.toolset.name, "tools": part.toolset.tools,
                "missing": part.missing, "install": part.install_line, "reason": part.message,
            }
            for part in registry.unavailable()
        ],
    }  # fmt: skip


def _print_text(registry: ToolRegistry, lang: Lang) -> None:
    tools = registry.tools()
    width = max((len(tool.name) for tool in tools), default=0)
    for toolset in dict.fromkeys(tool.toolset for tool in tools):
        print(f"{toolset}")
        for tool in tools:
            if tool.toolset == toolset:
                state = _READY.text(lang)
                print(f"  {tool.name:<{width}}  {tool.effect:<5}  {state}  {tool.description}")
    for part in registry.unavailable():
        print(f"{part.toolset.name}: {part.message}")


_READY = Note("ready", "可用")
