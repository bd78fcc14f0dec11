"""What the documentation shows is run: README snippets, and the scripts of examples/."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name != "make_data.py")


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PLANLOOM_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True,
        encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that looks like a clone to what runs in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_python_of_the_readme_runs(readme: str, clone: Path):
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text("utf-8"), re.DOTALL)
    assert len(snippets) >= 2
    for snippet in snippets:
        done = _run(snippet, clone)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("succeeded"), done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_script_runs(script: Path, clone: Path):
    done = _run((clone / "examples" / script.name).read_text("utf-8"), clone)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_both_readmes_have_the_same_command_lines():
    def lines(name: str) -> list[str]:
        return re.findall(r"^python3 -m venv .*$", (ROOT / name).read_text("utf-8"), re.MULTILINE)

    assert len(lines("README.md")) == 2
    assert lines("README.md") == lines("README.zh-CN.md")


def test_example_data_is_what_its_script_makes(tmp_path: Path):
    import importlib.util

    spec = importlib.util.spec_from_file_location("make_data", ROOT / "examples" / "make_data.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_data"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    data = ROOT / "examples" / "data"
    assert module.english() == (data / "coffee_orders.csv").read_text(encoding="utf-8")
    assert module.chinese() == (data / "tea_orders_zh.csv").read_text(encoding="gb18030")


def test_changelog_and_package_agree_on_the_version():
    from planloom import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
