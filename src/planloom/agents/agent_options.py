"""Checks the options of an agent when it is made, so that a slip is told by its name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from planloom.errors import ConfigError

if TYPE_CHECKING:
    from planloom.tools.tool import AnyTool

PathLike = str | os.PathLike[str]


def check_amount(name: str, value: object, *, whole: bool, least: float, example: str) -> None:
    """Check an option that is a number, or None for no limit.

    Raises:
        ConfigError: it is no number, no whole one where it has to be, or less than `least`.
    """
    if value is None:
        return
    kind = "a whole number" if whole else "a number"
    kind_zh = "整数" if whole else "数字"
    wanted_types = int if whole else int | float
    is_number = isinstance(value, wanted_types) and not isinstance(value, bool)
    if is_number and math.isfinite(cast("float", value)) and cast("float", value) >= least:
        return
    raise ConfigError(
        f"{name} is {value!r:.80}; it must be {kind} of at least {least:g}, such as {example}.",
        zh=f"{name} 的值是 {value!r:.80}，应为不小于 {least:g} 的{kind_zh}，例如 {example}。",
    )


def check_language(lang: object) -> None:
    """Check the language of texts.

    Raises:
        ConfigError: it is one that there are no texts in.
    """
    if lang not in {"en", "zh"}:
        raise ConfigError(
            f"lang is {lang!r:.80}; it must be 'en' or 'zh'.",
            zh=f"lang 的值是 {lang!r:.80}，应为 'en' 或 'zh'。",
        )


def paths_of(name: str, paths: Sequence[PathLike]) -> tuple[Path, ...]:
    """Return the paths of an option.

    Raises:
        ConfigError: it is one path in place of a list, or no list of paths.
    """
    if isinstance(cast("object", paths), str | os.PathLike):
        raise ConfigError(
            f"{name} is the single path {str(paths)!r}; give a list: {name}=[{str(paths)!r}].",
            zh=f"{name} 是单个路径 {str(paths)!r}，应为列表：{name}=[{str(paths)!r}]。",
        )
    try:
        return tuple(Path(path) for path in paths)
    except TypeError as error:
        raise ConfigError(
            f"{name} is {paths!r:.80}; it must be a list of paths.",
            zh=f"{name} 的值是 {paths!r:.80}，应为路径列表。",
        ) from error


def tools_of(tools: Iterable[AnyTool | Callable[..., object]]) -> tuple[AnyTool, ...]:
    """Return the tools of an agent; a plain function becomes a tool as `@tool` makes it.

    Raises:
        ConfigError: one cannot be a tool, or two have the same name.
    """
    from planloom.tools.tool import Tool

    if isinstance(tools, Tool) or not isinstance(cast("object", tools), Iterable):
        raise ConfigError(
            f"tools is {tools!r:.80}; it must be a list of tools: tools=[...].",
            zh=f"tools 是 {tools!r:.80}，应为工具列表：tools=[...]。",
        )
    found: dict[str, AnyTool] = {}
    for given in tools:
        made = _tool_of(given)
        if found.setdefault(made.name, made) is not made:
            raise ConfigError(
                f"Two of the tools are called '{made.name}'. Give one of them another name with "
                "@tool(name=...).",
                zh=f"有两个工具都叫“{made.name}”。请用 @tool(name=...) 给其中一个改名。",
            )
    return tuple(found.values())


def _tool_of(given: object) -> AnyTool:
    from planloom.tools.tool import Tool, tool

    if isinstance(given, Tool):
        return cast("AnyTool", given)
    if callable(given) and not isinstance(given, type):
        return tool(given)
    raise ConfigError(
        f"tools holds {given!r:.80}, which is no tool. Give functions, best decorated with @tool.",
        zh=f"tools 中的 {given!r:.80} 不是工具。请给出函数，最好用 @tool 装饰。",
    )


def check_planner(planner: object) -> None:
    """Check that an object can plan.

    Raises:
        ConfigError: it has no method `plan`.
    """
    if planner is not None and (
        isinstance(planner, type) or not callable(getattr(planner, "plan", None))
    ):
        raise ConfigError(
            f"planner is {planner!r:.80}; it must be an object with a method `plan` "
            "(planloom.engine.protocols.Planner).",
            zh=f"planner 是 {planner!r:.80}，应为带有 plan 方法的对象"
            "（planloom.engine.protocols.Planner）。",
        )


def check_keepable(limits: Mapping[str, float | None]) -> None:
    """Check that no limit is set on models that nobody but a planner of the user's own knows.

    Raises:
        ConfigError: one is set.
    """
    given = [name for name, limit in limits.items() if limit is not None]
    if given:
        listed = ", ".join(given)
        raise ConfigError(
            f"{listed} cannot be kept with planner=...: what your planner asks of models is not "
            "counted here. Leave the limit out, use max_time_s, or give the planner a model that "
            "is metered (planloom.models.metered.MeteredModel).",
            zh=f"使用 planner=... 时无法执行 {listed} 限制：规划器对模型的调用不在这里计数。"
            "请去掉该限制，改用 max_time_s，或给规划器一个计量的模型"
            "（planloom.models.metered.MeteredModel）。",
        )
