import os
import sys
from pathlib import Path

import pytest

from planloom.analysis.report.deliverable import check_target, publish
from planloom.errors import InputError


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "report"
    (folder / "images").mkdir(parents=True)
    (folder / "report.md").write_text("new")
    (folder / "images" / "01-trend.png").write_bytes(b"png")
    return folder


def test_report_is_copied_with_its_pictures(finished: Path, tmp_path: Path):
    published = publish(finished, tmp_path / "deep" / "out")
    assert published.files == ("images/01-trend.png", "report.md")
    assert (finished / "report.md").exists()


def test_earlier_report_is_replaced_as_a_whole(finished: Path, tmp_path: Path):
    out = tmp_path / "out"
    (out / "images").mkdir(parents=True)
    (out / "report.html").write_text("old")
    (out / "images" / "09-share.png").write_bytes(b"old")
    assert publish(finished, out).files == ("images/01-trend.png", "report.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


@pytest.mark.parametrize("name", ["thesis.txt", "data/a.csv", "images/holiday.jpg"])
def test_folder_with_other_files_is_refused_and_left_alone(
    name: str, finished: Path, tmp_path: Path
):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine")
    (out / "facts.json").write_text('{"schema": 1}')
    with pytest.raises(InputError, match=name):
        publish(finished, out)
    assert (out / name).read_text() == "mine"


def test_target_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        check_target(tmp_path / "out" / "deeper")


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_refused(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission"):
        check_target(tmp_path / "out")


def test_failed_copy_leaves_the_earlier_report(finished: Path, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.md").write_text("old")
    (finished / "report.md").unlink()
    (finished / "report.md").symlink_to(tmp_path / "nowhere")  # cannot be copied
    with pytest.raises(InputError, match="could not be written"):
        publish(finished, out)
    assert (out / "report.md").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]
