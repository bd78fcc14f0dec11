"""Why a line of a file was set aside, in the words of the rejected table and in Chinese."""

from __future__ import annotations

import re

from planloom.notes import Lang

_CHINESE = {
    "title above the table": "表格上方的标题",
    "comment above the table": "表格上方的注释",
    "comment inside the table": "表格中的注释",
    "note below the table": "表格下方的说明",
    "header line repeated": "重复的表头",
    "ruling line": "分隔线",
    "part of a second table": "属于另一张表",
    "blank row": "空行",
    "blank record": "空记录",
    "blank row below the table": "表格下方的空行",
    "no JSON object": "不是 JSON 对象",
    "no JSON list": "不是 JSON 数组",
}
_FIELDS = re.compile(r"(\d+) fields? instead of (\d+)")


def reason_text(reason: str, lang: Lang) -> str:
    """Return a reason of the rejected table in a language; unknown ones as they are.

    >>> reason_text("5 fields instead of 9", "zh")
    '有 5 个字段，应为 9 个'
    """
    if lang == "en":
        return reason
    if match := _FIELDS.fullmatch(reason):
        return f"有 {match[1]} 个字段，应为 {match[2]} 个"
    if reason.startswith("no valid JSON"):
        return "不是有效的 JSON" + reason.removeprefix("no valid JSON")
    return _CHINESE.get(reason, reason)
