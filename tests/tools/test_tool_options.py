"""Options of a tool that are misspelled or of another type are refused when the tool is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

import pytest

from planloom.engine.approval import ApprovalPolicy
from planloom.errors import ConfigError
from planloom.tools.tool import tool


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"approval": "alwayss"}, "Did you mean 'always'?"),
        ({"effect": "Send"}, "Did you mean 'send'?"),
        ({"effect": ["send"]}, "one of pure, read"),
        ({"isolation": "z"}, "one of auto, async"),
        ({"retries": 1.5}, "retries is 1.5"),
        ({"retries": True}, "retries is True"),
        ({"timeout_s": "10"}, "timeout_s is '10'"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"cache_s": "x"}, "cache_s is 'x'"),
        ({"idempotent": "no"}, "idempotent is 'no'"),
        ({"keywords": "abc"}, "keywords is 'abc'"),
        ({"keywords": (1,)}, "keywords is (1,)"),
        ({"compensation": 3}, "compensation is 3"),
        ({"toolset": 3}, "toolset is 3"),
        ({"name": 3}, "3 cannot be the name"),
    ],
)
def test_wrong_option_is_refused(options: dict[str, Any], said: str):
    def work() -> None:
        """Work."""

    with pytest.raises(ConfigError) as refused:
        tool(**options)(work)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"effects": {"snd": "deny"}}, "Did you mean 'send'?"),
        ({"effects": {"send": "never"}}, "one of ask, allow, deny"),
        ({"tools": {"mail": "Allow"}}, "Did you mean 'allow'?"),
    ],
)
def test_wrong_rule_of_a_policy_is_refused(rules: dict[str, Any], said: str):
    with pytest.raises(ConfigError) as refused:
        ApprovalPolicy(**rules)
    assert said in str(refused.value)


def give(result: object) -> Any:
    def work() -> object:
        """Work."""
        return None

    work.__annotations__["return"] = result
    return work


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (bytes, "FileRef"),
        (list[bytes] | None, "FileRef"),
        (dict[int, str], "dict[str, ...]"),
        (list[Mapping[tuple[int, int], str]], "dict[str, ...]"),
    ],
)
def test_result_without_json_form_is_refused_before_any_call(result: object, said: str):
    with pytest.raises(ConfigError) as refused:
        tool(give(result))
    assert said in str(refused.value)
    assert "'work'" in str(refused.value)


@pytest.mark.parametrize(
    "result",
    [dict[str, int], Mapping[Literal["a", "b"], list[float]], Literal[1, "x"], object, None],
)
def test_results_with_json_form_are_taken(result: object):
    assert tool(give(result)).result_type in (result, type(None))


class Row(TypedDict):
    a: int


def test_typed_dict_that_cannot_be_checked_is_refused_before_any_call():
    import sys

    if sys.version_info >= (3, 12):
        assert tool(give(Row)).result_type is Row
        return
    with pytest.raises(ConfigError, match="typing_extensions"):
        tool(give(list[Row]))
