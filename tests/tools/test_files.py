"""File tools: paging, encodings, searching, writing, and what may not be touched."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from planloom.errors import ToolError
from planloom.tools.builtin import builtin_registry
from planloom.tools.context import ToolContext
from planloom.tools.files import list_files, read_file, search_in_files, write_file
from planloom.tools.runner import ToolRunner
from planloom.tools.text_files import MAX_PAGE_CHARS


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    workspace = tmp_path / "work"
    folder = workspace / ".planloom" / "runs" / "r" / "steps" / "1.a"
    folder.mkdir(parents=True)
    return ToolContext(key="r/1.a", folder=folder, workspace=workspace)


def _file(context: ToolContext, name: str, content: str | bytes) -> Path:
    path = context.workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- reading


def test_a_short_file_is_one_page(context: ToolContext):
    _file(context, "a.txt", "one\r\ntwo\n")
    page = read_file("a.txt", context)
    assert (page.text, page.first_line, page.next_line) == ("one\ntwo\n", 1, None)


def test_pages_follow_each_other_until_the_end(context: ToolContext):
    _file(context, "a.txt", "".join(f"line {n}\n" for n in range(1, 26)))
    pages, line = [], 1
    while line is not None:
        page = read_file("a.txt", context, start_line=line, lines=10)
        pages.append(page.text)
        line = page.next_line
    assert [text.count("\n") for text in pages] == [10, 10, 5]
    assert pages[2].startswith("line 21\n")


def test_a_line_longer_than_a_page_is_read_in_pieces(context: ToolContext):
    _file(context, "long.json", "x" * (MAX_PAGE_CHARS + 10) + "\nend\n")
    first = read_file("long.json", context)
    assert (len(first.text), first.next_line, first.next_char) == (MAX_PAGE_CHARS, 1, 8000)
    second = read_file("long.json", context, start_line=1, start_char=8000)
    assert (second.text, second.next_line) == ("x" * 10 + "\nend\n", None)


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("gb18030", "季度总结：销售额同比增长，客户满意度稳定。\n下季度计划拓展华东市场。\n"),
        ("utf-8-sig", "with a mark\n"),
        ("utf-16", "wide text, two bytes each\nand a line\n"),
        ("big5", "這是一份傳統中文的報告，內容包含銷售與庫存的說明。\n"),
    ],
)
def test_the_encoding_is_found_out(codec: str, text: str, context: ToolContext):
    _file(context, "note.txt", text.encode(codec))
    assert read_file("note.txt", context).text == text


def test_a_huge_file_is_paged_without_holding_it(context: ToolContext):
    path = context.workspace / "huge.log"
    block = b"2024-01-01 something happened here\n" * 30_000
    with path.open("wb") as file:
        for _ in range(30):
            file.write(block)
    started = time.process_time()
    page = read_file("huge.log", context, start_line=890_001, lines=3)
    assert page.text.count("\n") == 3
    assert page.next_line == 890_004
    assert time.process_time() - started < 5


@pytest.mark.parametrize("start", [5, 4000])
def test_a_page_behind_the_end_is_an_error_that_tells_the_length(start: int, context: ToolContext):
    _file(context, "a.txt", "one\ntwo\n")
    with pytest.raises(ToolError, match="2 lines"):
        read_file("a.txt", context, start_line=start)


def test_an_empty_file_has_an_empty_page(context: ToolContext):
    _file(context, "empty.txt", "")
    assert read_file("empty.txt", context).text == ""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.parquet", b"PAR1" + bytes(9), "read_csv_file"),
        ("a.xlsx", b"PK\x03\x04" + bytes(9), "read_csv_file"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(9), "picture"),
        ("a.txt", b"a text with\0NUL", "binary"),
        ("a.bin", bytes(range(1, 30)) * 9, "binary"),
    ],
)
def test_binary_files_are_refused_with_what_reads_them(
    name: str, content: bytes, words: str, context: ToolContext
):
    _file(context, name, content)
    with pytest.raises(ToolError, match=words):
        read_file(name, context)


def test_a_missing_file_is_told_with_the_nearest_name(context: ToolContext):
    _file(context, "notes.md", "x")
    with pytest.raises(ToolError, match=r"Did you mean 'notes\.md'"):
        read_file("note.md", context)


def test_a_folder_is_told_to_be_one(context: ToolContext):
    _file(context, "docs/a.md", "x")
    with pytest.raises(ToolError, match="list_files"):
        read_file("docs", context)


# -- what may not be touched


@pytest.mark.parametrize("path", ["../secret.txt", "docs/../../secret.txt", "/etc/hostname", "~/x"])
def test_paths_that_lead_out_are_refused(path: str, context: ToolContext):
    (context.workspace.parent / "secret.txt").write_text("secret")
    for call in (read_file, list_files, lambda p, c: search_in_files("e", c, path=p)):
        with pytest.raises(ToolError):
            call(path, context) if call is not list_files else list_files(context, path)


def test_a_nul_in_a_path_is_an_error_and_no_bug(context: ToolContext):
    with pytest.raises(ToolError, match="NUL"):
        read_file("a\0b", context)
    with pytest.raises(ToolError, match="NUL"):
        write_file("a\0b", "x", context)


@pytest.mark.parametrize("name", [".env", "planloom.toml", ".git/config", ".ssh/id"])
def test_settings_and_hidden_files_stay_closed(name: str, context: ToolContext):
    _file(context, name, "api_key = 'sk-secret'")
    with pytest.raises(ToolError, match="hidden"):
        read_file(name, context)
    assert search_in_files("sk-secret", context).lines == ()
    assert name not in {entry.path for entry in list_files(context, pattern="**/*").files}


def test_a_hidden_file_that_the_user_named_is_open(context: ToolContext):
    path = _file(context, ".env", "x = 1\n")
    opened = ToolContext(
        key=context.key, folder=context.folder, workspace=context.workspace, readable=(path,)
    )
    assert read_file(".env", opened).text == "x = 1\n"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_that_lead_out_are_neither_listed_nor_read_nor_searched(context: ToolContext):
    outside = context.workspace.parent / "outside"
    outside.mkdir()
    (outside / "key.txt").write_text("the key")
    (context.workspace / "link").symlink_to(outside)
    (context.workspace / "file.txt").symlink_to(outside / "key.txt")
    assert list_files(context, pattern="*").files == ()
    assert list_files(context, pattern="link/*").files == ()
    assert search_in_files("key", context).lines == ()
    with pytest.raises(ToolError, match="outside"):
        read_file("file.txt", context)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes there")
def test_a_pipe_is_not_read(context: ToolContext):
    os.mkfifo(context.workspace / "pipe")
    with pytest.raises(ToolError, match="no file"):
        read_file("pipe", context)


# -- listing and searching


def test_listing_fits_the_pattern_and_says_what_is_left_out(context: ToolContext):
    for number in range(205):
        _file(context, f"data/{number:03}.csv", "x")
    _file(context, "data/deep/a.md", "y")
    assert [e.path for e in list_files(context, "data", "*.md").files] == []
    assert [e.path for e in list_files(context, "data", "**/*.md").files] == ["deep/a.md"]
    listed = list_files(context, "data", "*.csv")
    assert (len(listed.files), listed.left_out) == (200, 5)


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "", "a/../../*"])
def test_patterns_stay_below_the_folder(pattern: str, context: ToolContext):
    with pytest.raises(ToolError, match="pattern"):
        list_files(context, ".", pattern)


def test_search_finds_lines_in_any_encoding_and_skips_binaries(context: ToolContext):
    _file(context, "a.txt", "Nothing\nThe Total is 7\n")
    _file(
        context, "b/报告.txt", "第一行说明情况与背景。\n合计 total 为七百元整。\n".encode("gb18030")
    )
    _file(context, "c.png", b"\x89PNG total")
    found = search_in_files("TOTAL", context)
    assert [(line.path, line.line) for line in found.lines] == [("a.txt", 2), ("b/报告.txt", 2)]
    assert (found.files_searched, found.files_skipped) == (2, 1)


def test_search_is_bounded_and_says_so(context: ToolContext):
    _file(context, "a.txt", "hit\n" * 100)
    found = search_in_files("hit", context, path="a.txt")
    assert (len(found.lines), found.is_complete) == (50, False)


def test_a_hit_in_a_long_line_is_shown_with_what_is_around_it(context: ToolContext):
    _file(context, "a.txt", "x" * 5000 + " needle " + "y" * 5000)
    (line,) = search_in_files("needle", context).lines
    assert "needle" in line.text
    assert len(line.text) < 200


def test_a_regular_expression_that_explodes_elsewhere_is_quick(context: ToolContext):
    _file(context, "a.txt", "a" * 30_000 + "!\n")
    started = time.process_time()
    assert search_in_files(r"(a+)+$", context, regex=True).lines == ()
    assert time.process_time() - started < 2


@pytest.mark.parametrize("query", ["(", r"(?=a)", r"(a)\1"])
def test_expressions_that_cannot_be_used_are_told(query: str, context: ToolContext):
    with pytest.raises(ToolError, match="no regular expression"):
        search_in_files(query, context, regex=True)


# -- writing


def test_a_written_file_lies_in_the_folder_of_the_step(context: ToolContext):
    reference = write_file("out/notes.md", "# 标题\n", context)
    path = Path(reference.path)
    assert path == (context.folder / "out" / "notes.md").resolve()
    assert path.read_text(encoding="utf-8") == "# 标题\n"
    assert (reference.media_type, reference.size) == ("text/markdown", path.stat().st_size)


@pytest.mark.parametrize("path", ["../x.txt", "../../../../x.txt", "/opt/x.txt", "a/../../x.txt"])
def test_nothing_is_written_elsewhere(path: str, context: ToolContext):
    with pytest.raises(ToolError, match="outside"):
        write_file(path, "x", context)


def test_an_existing_file_is_replaced_only_on_request(context: ToolContext, tmp_path: Path):
    opened = tmp_path / "out"
    opened.mkdir()
    (opened / "a.txt").write_text("mine")
    context = ToolContext(
        key=context.key, folder=context.folder, workspace=context.workspace, writable=(opened,)
    )
    with pytest.raises(ToolError, match="already"):
        write_file(str(opened / "a.txt"), "new", context)
    assert (opened / "a.txt").read_text() == "mine"
    write_file(str(opened / "a.txt"), "new", context, replace=True)
    assert (opened / "a.txt").read_text() == "new"


@pytest.mark.parametrize("name", [".bashrc", "planloom.toml"])
def test_settings_and_hidden_files_are_not_written(name: str, context: ToolContext):
    with pytest.raises(ToolError, match="the user's"):
        write_file(name, "x", context)


def test_the_tools_are_registered_with_their_effects():
    effects = {tool.name: tool.effect for tool in builtin_registry().tools()}
    assert [effects[name] for name in ("list_files", "read_file", "search_in_files")] == [
        "read"
    ] * 3
    assert effects["write_file"] == "write"


def test_they_run_as_registered_tools(context: ToolContext):
    _file(context, "a.txt", "hello\n")

    async def call() -> tuple[bool, bool]:
        async with ToolRunner(builtin_registry()) as runner:
            read = await runner.call("read_file", {"path": "a.txt"}, context)
            written = await runner.call("write_file", {"path": "b.txt", "text": "x"}, context)
            return read.ok, written.ok

    assert asyncio.run(call()) == (True, True)
