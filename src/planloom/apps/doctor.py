"""`planloom doctor`: what is installed, what is missing and how to get it, fonts, and settings."""

from __future__ import annotations

import asyncio
import json as json_format
import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from planloom.agents.model_check import ModelCheck
from planloom.agents.model_check import check_model as try_model
from planloom.agents.model_setup import is_model_configured, open_model
from planloom.analysis.charts.fonts import INSTALL_LINE, cjk_font
from planloom.apps.terminal import printable
from planloom.budget import Limits
from planloom.config import Settings, load_settings
from planloom.errors import PlanloomError
from planloom.notes import Lang, Note
from planloom.tools.builtin import builtin_registry


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    group: str
    name: str
    ok: bool
    found: str
    mend: str = ""
    """What to do when it is not ok; a command where one helps."""


def run(*, json: bool, lang: Lang, check_model: bool = False) -> int:
    """Print every check; return 1 when one is not ok.

    `check_model` also calls the configured model once.
    """
    settings = load_settings(environment=os.environ, folder=Path.cwd())
    checks = [*_system(settings), *_packages(), *_toolsets(), _font()]
    if check_model:
        checks.append(_model(settings, lang))
    if json:
        print(json_format.dumps(_as_json(checks, settings), ensure_ascii=False, indent=1))
    else:
        _print_text(checks, settings, lang)
    return 0 if all(check.ok for check in checks) else 1


def _system(settings: Settings) -> list[Check]:
    home = settings.home.resolve()
    parent = next(folder for folder in (home, *home.parents) if folder.exists())
    return [
        Check("system", "Planloom", ok=True, found=_version("planloom")),
        Check("system", "Python", ok=True, found=f"{platform.python_version()} ({sys.executable})"),
        Check("system", "System", ok=True, found=platform.platform()),
        Check(
            "system", "Run folder", ok=os.access(parent, os.W_OK), found=str(home),
            mend="Choose a folder that can be written: export PLANLOOM_HOME=...",
        ),
    ]  # fmt: skip


def _packages() -> list[Check]:
    names = [line.split(";")[0] for line in requires("planloom") or () if "extra ==" not in line]
    checks: list[Check] = []
    for name in sorted(_package_name(line) for line in names):
        found = _version(name)
        checks.append(
            Check("packages", name, ok=bool(found), found=found, mend=f"pip install {name}")
        )
    return checks


def _package_name(requirement: str) -> str:
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), None)
    return requirement[:end]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _toolsets() -> list[Check]:
    registry = builtin_registry()
    ready = dict.fromkeys(tool.toolset for tool in registry.tools())
    return [
        *(Check("toolsets", name, ok=True, found="ready") for name in ready),
        *(
            Check(
                "toolsets", part.toolset.name, ok=False, found=part.message, mend=part.install_line
            )
            for part in registry.unavailable()
        ),
    ]


def _model(settings: Settings, lang: Lang) -> Check:
    """Call the configured model once."""
    try:
        found = asyncio.run(_try_model(settings, lang))
    except PlanloomError as error:
        return Check("model", str(settings["model"] or "-"), ok=False, found="",
                     mend=error.text(lang))  # fmt: skip
    tools = _TOOLS_SEEN if found.called_tool else _TOOLS_NOT_SEEN
    said = _ANSWERED.with_args({
        "seconds": f"{found.seconds:.1f}", "tokens": str(found.tokens), "tools": tools.text(lang),
        "schema": (_SCHEMA if found.json_schema else _NO_SCHEMA).text(lang),
    }).text(lang)  # fmt: skip
    return Check("model", found.model, ok=True, found=said)


async def _try_model(settings: Settings, lang: Lang) -> ModelCheck:
    setup = open_model(settings, Limits(max_calls=1), announce=_to_stderr, lang=lang)
    try:
        return await try_model(setup.model)
    finally:
        await setup.close()


def _to_stderr(text: str) -> None:
    print(printable(text), file=sys.stderr)


def _font() -> Check:
    font = cjk_font()
    found = f"{font.family} ({font.path})" if font else ""
    return Check("fonts", "Chinese", ok=font is not None, found=found, mend=INSTALL_LINE)


def _as_json(checks: list[Check], settings: Settings) -> dict[str, object]:
    return {
        "schema": 1,
        "checks": [
            {"group": c.group, "name": c.name, "ok": c.ok, "found": c.found,
             "mend": "" if c.ok else c.mend}
            for c in checks
        ],
        "settings": [
            {"name": s.name, "value": s.shown, "origin": s.origin, "source": s.source}
            for s in settings.values.values()
        ],
    }  # fmt: skip


def _print_text(checks: list[Check], settings: Settings, lang: Lang) -> None:
    for group in dict.fromkeys(check.group for check in checks):
        print(_GROUPS[group].text(lang))
        for check in (check for check in checks if check.group == group):
            mark = _OK.text(lang) if check.ok else _MISSING.text(lang)
            mend = "" if check.ok else f"  -> {check.mend}"
            print(f"  {mark}  {check.name:<22} {check.found}{mend}")
    print(_GROUPS["settings"].text(lang))
    for setting in settings.values.values():
        origin = _ORIGINS[setting.origin].text(lang)
        source = f" {setting.source}" if setting.source else ""
        unused = f"; {_UNUSED.text(lang)}" if setting.name in _UNUSED_SETTINGS else ""
        print(f"  {setting.name:<30} {setting.shown}  ({origin}{source}{unused})")
    print((_MODEL if is_model_configured(settings) else _NO_MODEL).text(lang))


_OK = Note("ok     ", "正常")
_MISSING = Note("MISSING", "缺失")
_GROUPS = {
    "system": Note("System", "系统"),
    "packages": Note("Packages", "依赖包"),
    "toolsets": Note("Toolsets", "工具集"),
    "fonts": Note("Fonts", "字体"),
    "model": Note("Model", "模型"),
    "settings": Note("Settings", "设置"),
}
_ORIGINS = {
    "option": Note("option", "命令行选项"),
    "environment": Note("environment", "环境变量"),
    "planloom.toml": Note("file", "配置文件"),
    "default": Note("default", "默认值"),
}
_MODEL = Note(
    "A language model is configured. planloom doctor --check-model calls it once.",
    "已配置语言模型。planloom doctor --check-model 可试调用一次。",
)
_NO_MODEL = Note(
    "No language model is configured: planloom run and planloom ask need one, reports do not.",
    "未配置语言模型：planloom run 和 planloom ask 需要模型，生成报告不需要。",
)
_UNUSED = Note("not used by this version", "本版本未使用")
_UNUSED_SETTINGS = ("tool_timeout_s", "batch_question_delay_s")
_ANSWERED = Note(
    "answered in {seconds} s, {tokens} tokens; {tools}; {schema}",
    "{seconds} 秒内回复，{tokens} 个 token；{tools}；{schema}",
)
_TOOLS_SEEN = Note("makes native tool calls", "支持原生工具调用")
_TOOLS_NOT_SEEN = Note(
    "made no native tool call; calls are read from its text", "未使用原生工具调用，将从文本中识别"
)
_SCHEMA = Note("replies can be held to a JSON schema", "可按 JSON Schema 约束回复")
_NO_SCHEMA = Note("no JSON schema mode", "无 JSON Schema 模式")
