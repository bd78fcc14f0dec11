"""Chinese help texts of the command line."""

from __future__ import annotations

from typing import Protocol, cast

CHINESE = {
    "Planloom weaves a goal into a finished deliverable.": "Planloom：给定目标和文件，交付成品。",
    "Turn data files and a goal into an illustrated, verified report.": (
        "由数据文件和目标生成图文并茂、数字可核对的报告。"
    ),
    "Show what a data file holds and how it was read.": "查看数据文件的内容及读取方式。",
    "List the tools with their effect and state.": "列出工具及其作用和状态。",
    "Show what is installed, what is missing, fonts, and settings.": (
        "检查已安装和缺少的组件、字体以及设置。"
    ),
    "Data files.": "数据文件。",
    "A data file.": "数据文件。",
    "What you want to know, in your own words.": "想了解什么，用自己的话写。",
    "Folder of the report; ./report-<run id> by default.": (
        "报告文件夹，默认为 ./report-<运行编号>。"
    ),
    "Language of the report; auto: that of the goal.": "报告语言；auto 表示与目标一致。",
    "html, md or html,md.": "html、md 或 html,md。",
    "Print JSON instead of text.": "输出 JSON，而非文本。",
    "Show no progress.": "不显示进度。",
    "Show the version.": "显示版本。",
    "Show this message and exit.": "显示帮助并退出。",
}
"""English help text -> Chinese; a test checks that none is missing."""


class _Helped(Protocol):
    help: str | None
    params: list[_Helped]


def in_chinese(command: object) -> None:
    """Replace every help text of a command, its parameters and its sub-commands."""
    helped = cast("_Helped", command)
    for part in (helped, *helped.params):
        text = getattr(part, "help", None)
        if text is not None:
            part.help = CHINESE.get(text, text)
    for inner in cast("dict[str, object]", getattr(command, "commands", {})).values():
        in_chinese(inner)
