"""Artifacts: identity, shape, preview, and contents that are checked on read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planloom.engine.artifacts import ArtifactError, ArtifactStore, refs_in, write_atomically
from planloom.errors import InputError
from planloom.values import Column, FileRef, TableRef, file_sha256


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "run")


def table(path: Path) -> TableRef:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"PAR1")
    return TableRef(
        path=str(path),
        columns=(Column(name="日期", type="date"), Column(name="v", type="number", unit="¥")),
        rows=12,
        name="t",
        sha256=file_sha256(path),
    )


def test_text_is_kept_with_hash_size_shape_and_preview(store: ArtifactStore):
    kept = store.keep_text("数据\n" * 1000, "r/1.a")
    assert store.get("1.a") == kept
    assert store.read_text("1.a") == "数据\n" * 1000
    assert kept.size == 7000
    assert kept.shape == {"chars": 3000, "lines": 1001}
    assert len(kept.preview) < 1100


def test_json_is_kept_and_read_back(store: ArtifactStore):
    store.keep_json({"a": [1, None, "数"]}, "r/2.b", number=3)
    assert store.read_json("2.b-3") == {"a": [1, None, "数"]}


def test_every_file_inside_a_value_is_kept_once(store: ArtifactStore, tmp_path: Path):
    inside = table(tmp_path / "run" / "steps" / "1.a" / "t.parquet")
    outside = tmp_path / "user.txt"
    outside.write_text("x", "utf-8")
    ref = FileRef(path=str(outside), media_type="text/plain", size=1, sha256=file_sha256(outside))
    kept = store.keep_files({"a": [inside, ref], "again": inside}, "r/1.a")
    assert [(k.id, k.kind) for k in kept] == [("1.a", "table"), ("1.a-2", "file")]
    assert kept[0].path == "steps/1.a/t.parquet"
    assert kept[0].preview == "12 rows; columns: 日期 (date), v (number)"
    assert kept[0].shape["rows"] == 12
    assert kept[1].path == str(outside)
    assert store.path("1.a-2") == outside
    assert [a.id for a in store.all()] == ["1.a", "1.a-2"]


def test_altered_content_is_an_error_that_says_what_to_do(store: ArtifactStore, tmp_path: Path):
    store.keep_text("one", "r/1.a")
    (tmp_path / "run" / "artifacts" / "1.a.txt").write_text("two", "utf-8")
    with pytest.raises(ArtifactError, match=r"'1\.a' was altered .* Run the step"):
        store.read_text("1.a")


def test_deleted_content_is_an_error(store: ArtifactStore, tmp_path: Path):
    store.keep_text("one", "r/1.a")
    (tmp_path / "run" / "artifacts" / "1.a.txt").unlink()
    with pytest.raises(ArtifactError, match=r"'1\.a' is gone"):
        store.path("1.a")


def test_damaged_and_missing_records_are_errors(store: ArtifactStore, tmp_path: Path):
    store.keep_text("one", "r/1.a")
    with pytest.raises(ArtifactError, match="no artifact 'x'"):
        store.get("x")
    (tmp_path / "run" / "artifacts" / "1.a.artifact.json").write_text("{", "utf-8")
    with pytest.raises(ArtifactError, match="damaged"):
        store.get("1.a")


def test_id_cannot_lead_out_of_the_run(store: ArtifactStore, tmp_path: Path):
    (tmp_path / "secret.artifact.json").write_text("{}", "utf-8")
    with pytest.raises(ArtifactError, match="no artifact"):
        store.get("../../secret")


def test_value_whose_file_is_not_what_it_says_is_not_kept(store: ArtifactStore, tmp_path: Path):
    ref = table(tmp_path / "t.parquet")
    Path(ref.path).write_bytes(b"other")
    with pytest.raises(ArtifactError, match="altered"):
        store.keep_files(ref, "r/1.a")


def test_refs_are_found_in_tuples_and_objects(tmp_path: Path):
    ref = table(tmp_path / "t.parquet")
    assert list(refs_in(({"x": (ref,)}, [ref], "text", 3, None))) == [ref, ref]


def test_interrupted_write_leaves_no_half_file(tmp_path: Path):
    path = tmp_path / "a.json"
    path.mkdir()
    with pytest.raises(InputError, match=r"a\.json.*PLANLOOM_HOME"):
        write_atomically(path, b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_overwritten_file_is_noticed_by_the_value_that_named_it_first(
    store: ArtifactStore, tmp_path: Path
):
    first = table(tmp_path / "t.parquet")
    store.check_files(first)
    Path(first.path).write_bytes(b"second content")
    second = replace(first, sha256=file_sha256(first.path))
    store.check_files(second)
    with pytest.raises(ArtifactError, match="altered"):
        store.check_files(first)
