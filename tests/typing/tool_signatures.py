"""What a type checker must see of decorated tools; checked by pyright, never called."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, assert_type

from planloom.tools.registry import ToolRegistry
from planloom.tools.tool import AnyTool, Tool, tool


@tool
def bare(path: str, limit: int = 3) -> list[str]:
    return [path] * limit


@tool(effect="read", timeout_s=5)
def with_options(path: str) -> int:
    return len(path)


@tool
async def awaitable(path: str) -> bool:
    return bool(path)


def checked_only() -> Coroutine[Any, Any, bool]:
    assert_type(bare("a", limit=2), list[str])
    assert_type(with_options(path="a"), int)
    pending: Coroutine[Any, Any, bool] = awaitable("a")

    bare(3)  # pyright: ignore[reportArgumentType] -- must be an error: the signature is kept
    with_options("a", "b")  # pyright: ignore[reportCallIssue] -- must be an error

    kept: Tool[[str], int] = with_options
    anything: AnyTool = bare
    ToolRegistry([kept, anything, awaitable])
    return pending
