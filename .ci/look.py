"""Look at a finished report as a careful reader would: all files there, every picture real."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

FILES = ("report.html", "report.md", "facts.json", "cleaned.parquet", "cleaned.csv", "reproduce.py")


def main(folder: Path) -> None:
    for name in FILES:
        assert (folder / name).stat().st_size > 0, f"{name} is missing or empty"
    page = (folder / "report.html").read_text(encoding="utf-8")
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))["facts"]
    pictures = sorted((folder / "images").glob("*.png"))
    assert "<script" not in page, "the page runs scripts"
    assert 'src="http' not in page, "the page loads something from outside"
    assert "{{" not in page, "a placeholder was left in the page"
    assert len(pictures) >= 2, f"only {len(pictures)} pictures"
    assert page.count("<img ") == len(pictures), "a picture is missing in the page"
    assert len(facts) >= 30, f"only {len(facts)} facts"
    for picture in pictures:
        width, height = struct.unpack(">II", picture.read_bytes()[16:24])
        assert width >= 800 and height >= 300, f"{picture.name} is {width} x {height}"
    print(f"{folder}: {len(pictures)} pictures, {len(facts)} facts, {len(page) // 1000} kB page")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
