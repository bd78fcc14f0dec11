"""The tools that a question is likely to need, told by its words and by its files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planloom.planning.tool_text import named_by
from planloom.tools.builtin import BUILTIN_TOOLSETS
from planloom.tools.search import best_matches
from planloom.tools.tool import AnyTool

LIMIT, SMALL_LIMIT = 10, 5
"""Tools of Planloom that are offered at first, to a capable model and to a small one."""
SMALL_SCHEMA_CHARS = 2_500
"""A small model reads slowly, and hardly makes use of longer schemas."""

_OWN_LIMIT = 20
"""So many tools of the user's are always offered."""
_LONG_SCHEMA_CHARS = 3_000
"""Longer ones are offered only where the question names what they do."""
_TABLE_TOOLSETS = frozenset({"tables", "analyses", "charts"})
_TABLE_CORE = (
    *("read_csv_file", "rank_categories", "filter_rows", "get_data_summary"),
    *("share_of_total", "trend_over_time"),
)
_FILE_CORE = ("list_files", "read_file", "search_in_files")
_SPEAKS_OF_TABLES = re.compile(
    r"\b(?:data|datasets?|csv|tsv|excel|spreadsheets?|workbooks?|tables?|columns?|rows|charts?"
    r"|plots?)\b|\.(?:xlsx?|parquet)\b|数据|表格|图表|电子表|工作簿",
    re.IGNORECASE | re.ASCII,
)
_SPEAKS_OF_FILES = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies)|documents?)\b|文件|目录|文档"
    r"|\w\.(?:txt|md|log|csv|tsv|jsonl?|xlsx?|parquet|xml|ya?ml|toml|html?|py|pdf|docx?|pptx?)\b",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class ToolOffer:
    """The tools that a model is offered at first, and those that it may find."""

    shown: tuple[AnyTool, ...]
    more: tuple[AnyTool, ...]


def offer_tools(
    tools: Sequence[AnyTool],
    question: str,
    *,
    with_table: bool = False,
    with_text: bool = False,
    limit: int = LIMIT,
    max_schema_chars: int | None = None,
) -> ToolOffer:
    """Return the tools to offer for a question.

    `with_table` and `with_text` say that data files, or others, belong to it. The user's own tools
    come always while they are few; of Planloom's at most `limit`, none whose schema is longer than
    `max_schema_chars`, and those for tables and files only where the question is about such.
    """
    # By toolset too: a tool of the user may have taken the place of one of Planloom's.
    builtin = {(toolset.name, name) for toolset in BUILTIN_TOOLSETS for name in toolset.tools}
    own = [tool for tool in tools if (tool.toolset, tool.name) not in builtin]
    about_tables = with_table or bool(_SPEAKS_OF_TABLES.search(question))
    about_files = with_text or bool(not with_table and _SPEAKS_OF_FILES.search(question))
    fitting = [
        tool
        for tool in tools
        if (tool.toolset, tool.name) in builtin
        and (about_tables or tool.toolset not in _TABLE_TOOLSETS)
        and (about_files or tool.toolset != "files")
        and (max_schema_chars is None or _schema_chars(tool) <= max_schema_chars)
    ]
    core = (*(_TABLE_CORE * about_tables), *(_FILE_CORE * about_files))
    chosen = _chosen(fitting, question, core, limit)
    shown = [*_own_chosen(own, question), *chosen]
    return ToolOffer(shown=tuple(shown), more=tuple(tool for tool in tools if tool not in shown))


def spare_tools(tools: Sequence[AnyTool], goal: str) -> frozenset[str]:
    """Return the tools of Planloom that a goal without files hardly needs, by name.

    None where the goal speaks of data or files, where a tool of the user's takes or gives tables,
    pictures or files, and where the user has no tools: then those of Planloom are the means.
    """
    modules = {toolset.module for toolset in BUILTIN_TOOLSETS}
    own = [tool for tool in tools if not tool.module.startswith("planloom.")]
    builtin = [tool for tool in tools if tool.module in modules]
    is_about_data = _SPEAKS_OF_TABLES.search(goal) or _SPEAKS_OF_FILES.search(goal)
    if is_about_data or not own or any(_handles_objects(tool) for tool in own):
        return frozenset()
    wanted = named_by(goal, builtin)
    return frozenset(tool.name for tool in builtin if tool not in wanted)


def _handles_objects(tool: AnyTool) -> bool:
    return bool(tool.result_kind) or any(parameter.kind for parameter in tool.inputs)


def _own_chosen(own: Sequence[AnyTool], question: str) -> Sequence[AnyTool]:
    return own if len(own) <= _OWN_LIMIT else best_matches(question, own, _OWN_LIMIT)


def _chosen(
    fitting: Sequence[AnyTool], question: str, core: Iterable[str], limit: int
) -> list[AnyTool]:
    """Return what can hardly be done without, then what the question names, then what is common."""
    by_name = {tool.name: tool for tool in fitting}
    common = [by_name[name] for name in core if name in by_name]
    wanted = [*common[:1], *named_by(question, fitting), *common]
    return list(dict.fromkeys(wanted))[:limit]


def _schema_chars(tool: AnyTool) -> int:
    return len(json.dumps(tool.arguments_schema.for_models))
