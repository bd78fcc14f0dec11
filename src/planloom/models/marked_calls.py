"""Tool calls between the marks that open models are trained on, where a server let them through.

Hermes, Qwen: <tool_call>{...}</tool_call>; Qwen Coder, Llama: <function=name>; GLM: <arg_key>;
Claude: <invoke name="...">; Mistral: [TOOL_CALLS]; Llama: <|python_tag|>; Granite, Phi:
<|tool_call|>; Kimi, DeepSeek: <|tool_call_begin|>; gpt-oss: to=functions.name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from planloom.models.json_calls import read_json_calls
from planloom.models.json_repair import read_json
from planloom.models.json_text import JsonData, UnreadableJsonError
from planloom.models.python_calls import read_python_calls
from planloom.models.written_calls import NOTHING, KnownTools, Reading, WrittenCall

_TAG = r"<(?P<tag>tools?|tool[_-]calls?|function[_-]calls?|tool_use|toolcall)>"
_FUNCTION = r"<function=(?P<function>[^>\n]+)>|<invoke name=\"(?P<invoke>[^\">\n]+)\"\s*>"
_BAR = r"[|｜]"
_SEP = r"[_▁]"
_TOKEN = rf"<{_BAR}tool{_SEP}call{_SEP}begin{_BAR}>"
_HARMONY = r"to=functions\.(?P<harmony>[\w.-]+)[^\n{]*?<\|message\|>"
MARK = re.compile(
    rf"{_TAG}|{_FUNCTION}|(?P<mistral>\[TOOL_CALLS\]|<\|tool_calls?\|>)|(?P<python><\|python_tag\|>)|(?P<token>{_TOKEN})|{_HARMONY}"
)
"""Where a marked call begins."""
SIGNS_OF_MARKS = ("<tool", "<function", "<invoke", "[TOOL_CALLS]", "<|", "<｜")
"""One of these is in every text with a `MARK`; finding none is much faster than the pattern."""

_FUNCTION_MARK = re.compile(_FUNCTION)
_FUNCTION_END = re.compile(r"</function>|</invoke>|(?=</tool_call>)")
_BEFORE_END = re.compile(r"(?=</function>|</invoke>)")
_PARAMETER = re.compile(
    r"<parameter(?:=(?P<plain>[^>\n]+)|\s+name=\"(?P<quoted>[^\">\n]+)\"[^>\n]*)>"
)
_PARAMETER_END = re.compile(r"</parameter>|(?=<parameter[ =])")
_GLM_PAIR = re.compile(
    r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>", re.DOTALL
)
_MISTRAL_CALL = re.compile(r"\s*(?P<name>[\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\]|(?=\{))")
_HARMONY_END = re.compile(r"<\|(?:call|end|return)\|>")
_MESSAGE_END = re.compile(r"<\|e(?:om|ot)_id\|>|\Z")
_TOKEN_NAME = re.compile(
    rf"\s*(?:function<{_BAR}tool{_SEP}sep{_BAR}>)?\s*(?:functions\.)?(?P<name>[\w.-]+)(?::\d+)?\s*"
    rf"(?:<{_BAR}tool(?:{_SEP}call{_SEP}argument{_SEP}begin|{_SEP}sep){_BAR}>)?\s*"
)
_TOKEN_END = re.compile(rf"<{_BAR}tool{_SEP}call{_SEP}end{_BAR}>")
_LEFT_OVER = re.compile(
    rf"\s*(?:</?(?:tools?|tool[_-]calls?|function[_-]calls?|tool_use|toolcall|function)>"
    rf"|<{_BAR}/?tool{_SEP}calls?{_BAR}>"
    rf"|<{_BAR}tool{_SEP}calls(?:{_SEP}section)?{_SEP}(?:begin|end){_BAR}>)"
)


def read_marked_calls(text: str, mark: re.Match[str], tools: KnownTools) -> Reading:
    """Return the calls that begin with a `MARK`; a problem where they cannot be read."""
    if mark["tag"]:
        return _read_tag(text, mark, tools)
    if mark["mistral"]:
        return _read_mistral(text, mark.end(), tools)
    if mark["python"]:
        return _read_python_tag(text, mark.end(), tools)
    if mark["harmony"]:
        return _read_harmony(text, mark, tools)
    if mark["token"]:
        return _read_token(text, mark.end(), tools)
    return _read_function(text, mark, tools)


def without_left_over_marks(text: str) -> str:
    """Return what remains of a text without the marks around its calls."""
    return _LEFT_OVER.sub("", text)


def _read_tag(text: str, mark: re.Match[str], tools: KnownTools) -> Reading:
    closing = text.find(f"</{mark['tag']}>", mark.end())
    end = len(text) if closing < 0 else closing
    start = mark.end() + _blank(text, mark.end())
    if text[start : start + 1] in ("{", "["):
        # JSON tells its own end: a text in it may hold the closing tag.
        found = read_json_calls(text, start, tools)
        return found if found.calls else _no_json_call(text, start, end)
    if inside := MARK.match(text, start):
        return Reading(end=inside.start())  # what the marks inside say comes next
    found = _read_words(text[start:end], tools)
    if found:
        return Reading(found.calls, found.problems, end)
    # Without its closing tag it is a word of prose.
    return _unreadable(text[mark.start() : end], end) if closing >= 0 else NOTHING


def _read_words(body: str, tools: KnownTools) -> Reading:
    """Read the forms inside of tags that are not JSON."""
    if pairs := list(_GLM_PAIR.finditer(body)):
        given = [(pair["key"].strip(), pair["value"]) for pair in pairs]
        return Reading((_call(body[: pairs[0].start()].strip(), given, tools),))
    if body.strip() in tools:
        return Reading((WrittenCall(tools.name(body), ""),))
    return read_python_calls(body, tools)


def _no_json_call(text: str, start: int, end: int) -> Reading:
    try:
        read_json(text, start)
    except UnreadableJsonError as error:
        return Reading((), (f"A tool call was written as JSON that cannot be read: {error}.",), end)
    return _unreadable(text[start:end], end)


def _read_function(text: str, mark: re.Match[str], tools: KnownTools) -> Reading:
    name = (mark["function"] or mark["invoke"]).strip("\"' ")
    start = mark.end() + _blank(text, mark.end())
    if text[start : start + 1] == "{":
        closing = _FUNCTION_END.search(text, start)
        end = closing.end() if closing else len(text)
        arguments = text[start : closing.start() if closing else end].strip()
        return Reading((WrittenCall(tools.name(name), arguments),), (), end)
    given: list[tuple[str, str]] = []
    at = mark.end()
    while parameter := _PARAMETER.match(text, at + _blank(text, at)):
        value_start = parameter.end()
        closing = _PARAMETER_END.search(text, value_start) or _BEFORE_END.search(text, value_start)
        if closing is None:
            return _cut_off(name, len(text))
        key = (parameter["plain"] or parameter["quoted"]).strip("\"' ")
        given.append((key, text[value_start : closing.start()]))
        at = closing.end()
    closing = _FUNCTION_END.match(text, at + _blank(text, at))
    if closing is None:
        return _cut_off(name, len(text))
    return Reading((_call(name, given, tools),), (), closing.end())


def _read_mistral(text: str, start: int, tools: KnownTools) -> Reading:
    found = read_json_calls(text, start + _blank(text, start), tools)
    if found:
        return found
    named = _MISTRAL_CALL.match(text, start)
    if named is None:
        return _unreadable(text[start:], len(text))
    following = text.find("[TOOL_CALLS]", named.end())
    end = len(text) if following < 0 else following
    arguments = text[named.end() : end].strip()
    return Reading((WrittenCall(tools.name(named["name"]), arguments),), (), end)


def _read_python_tag(text: str, start: int, tools: KnownTools) -> Reading:
    ending = _MESSAGE_END.search(text, start)
    end = ending.start() if ending else len(text)
    body = text[start:end].strip()
    found = read_json_calls(body, 0, tools)
    if not found:
        found = read_python_calls(re.sub(r"^([\w.]+)\.call\(", r"\1(", body), tools)
    last = ending.end() if ending else end
    return Reading(found.calls, found.problems, last) if found else _unreadable(body, last)


def _read_harmony(text: str, mark: re.Match[str], tools: KnownTools) -> Reading:
    ending = _HARMONY_END.search(text, mark.end())
    end = ending.start() if ending else len(text)
    call = WrittenCall(tools.name(mark["harmony"]), text[mark.end() : end].strip())
    return Reading((call,), (), ending.end() if ending else end)


def _read_token(text: str, start: int, tools: KnownTools) -> Reading:
    named = _TOKEN_NAME.match(text, start)
    ending = _TOKEN_END.search(text, start)
    if named is None:
        return _unreadable(text[start:], len(text))
    if ending is None:
        return _cut_off(named["name"], len(text))
    arguments = text[named.end() : ending.start()].strip()
    return Reading((WrittenCall(tools.name(named["name"]), arguments),), (), ending.end())


def _call(name: str, given: Iterable[tuple[str, str]], tools: KnownTools) -> WrittenCall:
    values: dict[str, JsonData] = {
        key: tools.typed(name, key, _without_frame(value)) for key, value in given
    }
    return WrittenCall(tools.name(name), json.dumps(values, ensure_ascii=False))


def _without_frame(value: str) -> str:
    """Return a value without the line breaks that the form puts around it."""
    return value.removeprefix("\n").removesuffix("\n")


def _blank(text: str, at: int) -> int:
    return len(text[at : at + 200]) - len(text[at : at + 200].lstrip())


def _unreadable(written: str, end: int) -> Reading:
    shown = written if len(written) <= 200 else written[:200] + "..."
    return Reading((), (f"A tool call was begun that cannot be read: {shown!r}.",), end)


def _cut_off(name: str, end: int) -> Reading:
    return Reading((), (f"The call of {name[:80]} is cut off before its end.",), end)
