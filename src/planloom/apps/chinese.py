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
    "Reach a goal: a model plans, the plan is checked and run.": (
        "完成目标：由模型制定计划，检查后执行。"
    ),
    "Answer a question with tools; the answer alone is printed.": (
        "借助工具回答问题，只输出答案。"
    ),
    "What is to be done.": "要完成的目标。",
    "What you want to know.": "要问的问题。",
    "Files to work with.": "要使用的文件。",
    "The language model; PLANLOOM_MODEL by default.": "语言模型，默认为 PLANLOOM_MODEL。",
    "Address of an OpenAI-compatible service.": "兼容 OpenAI 的服务地址。",
    "Most US dollars that models may cost.": "模型费用上限（美元）。",
    "Most tokens that models may use.": "模型 token 用量上限。",
    "Most calls of models.": "模型调用次数上限。",
    "Longest run, such as 90s or 5m.": "最长运行时间，如 90s 或 5m。",
    "Folder for files that are made; ./run-<run id> by default.": (
        "生成文件的存放目录，默认为 ./run-<运行编号>。"
    ),
    "Show the plan and do not run it.": "只显示计划，不执行。",
    "Show the plan and ask before running it.": "显示计划，确认后再执行。",
    "How the model writes its plan; auto: as suits the model.": (
        "模型书写计划的格式；auto 表示按模型选择。"
    ),
    "Allow every step without asking.": "所有步骤均不再询问，直接执行。",
    "Allow steps of this effect without asking.": "该类作用的步骤不再询问，直接执行。",
    "Language of the answer; auto: that of the goal.": "回答所用语言；auto 表示与目标一致。",
    "Most turns of the model; 10 by default.": "模型的最多轮数，默认为 10。",
    "Show thoughts, calls and results on stderr.": "在标准错误输出中显示思考、调用和结果。",
    "Use no model, even if one is configured.": "即使已配置模型也不使用。",
    "Let names, mail addresses, phone, id and card numbers reach the model.": (
        "允许将姓名、邮箱、电话、证件号和卡号发送给模型。"
    ),
    "Call the configured model once.": "试调用一次已配置的模型。",
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
