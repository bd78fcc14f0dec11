"""Where a run may hand out its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom.agents.deliverables import check_out
from planloom.errors import UsageError


def test_a_name_that_no_file_system_takes_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="--out") as refused:
        check_out(tmp_path / ("x" * 5000))
    assert "--out" in refused.value.text("zh")


def test_a_new_folder_in_a_writable_one_is_fine(tmp_path: Path):
    check_out(tmp_path / "a" / "b")
