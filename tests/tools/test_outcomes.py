"""What an exception of a tool means to its caller, in the caller's language."""

from __future__ import annotations

import errno

import pytest

from planloom.errors import ToolError
from planloom.tools.outcomes import BrokenPromiseError, checked, failed
from planloom.tools.tool import tool


@tool
def write() -> None:
    """Write."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/d/{x}.csv"), "Free some disk space"),
        (PermissionError(errno.EACCES, "Permission denied", "/d/{x}.csv"), "permissions"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/d/{x}.csv"), "Check the path"),
    ],
)
def test_fault_of_the_system_is_no_bug_of_the_tool(error: OSError, words: str):
    result = failed(write, error)
    assert result.error_kind == "tool"
    assert result.error.startswith("Tool 'write' could not go on: ")
    assert "/d/{x}.csv" in result.error
    assert words in result.error
    assert "bug" not in result.error


def test_fault_without_a_path_still_says_what_to_do():
    result = failed(write, ConnectionResetError("peer"), "zh")
    assert result.error == "工具“write”无法继续：peer。请检查文件、磁盘或网络连接后重试。"


def test_error_speaks_the_language_of_the_call():
    error = ToolError("No such column.", zh="没有这一列。")
    assert failed(write, error, "zh").error == "没有这一列。"
    assert failed(write, error).error == "No such column."


def raised(error: Exception) -> Exception:
    try:
        raise error  # token = "secret"
    except type(error) as caught:
        return caught


def test_exception_of_a_tool_speaks_to_the_model_without_its_code():
    error = raised(ValueError("No customer called Bob; ask for the full name."))
    result = failed(write, error)
    assert result.error_kind == "crash"
    assert result.error == (
        "Tool 'write' failed: ValueError: No customer called Bob; ask for the full name."
    )
    assert result.raised_at.startswith(__file__)
    assert failed(write, error, "zh").error.startswith("工具“write”执行失败：ValueError: ")


def test_where_an_exception_was_raised_goes_to_the_log(caplog: pytest.LogCaptureFixture):
    with caplog.at_level("INFO", "planloom"):
        failed(write, raised(ValueError("x")))
    assert "Traceback" in caplog.text


@tool
def give() -> str:
    """Give."""
    return ""


def test_half_a_character_does_not_make_a_call_fail_that_was_made():
    assert checked(give, "a\ud83db") == "a\ufffdb"
    failed(write, ValueError("a\ud83db")).error.encode()
    with pytest.raises(BrokenPromiseError) as broken:
        checked(give, ["a\ud83db"])
    failed(give, broken.value).error.encode()
