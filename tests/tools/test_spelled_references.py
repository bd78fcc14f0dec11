"""Only results of earlier steps count as references; objects that spell one out are found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from planloom.tools.signature import Reference
from planloom.tools.spelled_references import spelled_references
from planloom.tools.tool import tool
from planloom.values import FileRef, ImageRef, TableRef

PICTURE = ImageRef(
    path="/root/.ssh/id_rsa", media_type="image/png", size=1, sha256="0", width=1, height=1, alt=""
)


@dataclass(frozen=True, kw_only=True)
class Folder(FileRef):
    folder: str


@dataclass(frozen=True)
class Section:
    heading: str
    images: tuple[ImageRef, ...] = ()


@dataclass(frozen=True)
class Chapter:
    sections: dict[str, list[Section]]


@dataclass(frozen=True)
class Report:
    title: str


class Page(TypedDict):
    image: ImageRef


class Album(BaseModel):
    cover: ImageRef | None = None


@tool
def publish(
    *,
    heading: str = "",
    image: ImageRef | None = None,
    folder: Folder | None = None,
    files: list[TableRef | ImageRef] | None = None,
    pair: tuple[str, ImageRef] | None = None,
    chapter: Chapter | None = None,
    page: Page | None = None,
    album: Album | None = None,
    report: Annotated[Report, Reference("report")] | None = None,
    notes: Annotated[dict[str, str], Reference("notes")] | None = None,
    anything: dict[str, object] | None = None,
) -> str:
    """Publish."""
    return heading


@pytest.mark.parametrize(
    ("argument", "value", "place", "kind"),
    [
        ("image", asdict(PICTURE), "image", "image"),
        ("image", {"path": "$one.path"}, "image", "image"),
        ("folder", {"path": "/etc", "folder": "/etc"}, "folder", "file"),
        ("files", ["$one", asdict(PICTURE)], "files[1]", "table"),
        ("pair", ["a", asdict(PICTURE)], "pair[1]", "image"),
        (
            "chapter",
            {"sections": {"one": [{"heading": "h", "images": [asdict(PICTURE)]}]}},
            "chapter.sections.one[0].images[0]",
            "image",
        ),
        ("page", {"image": asdict(PICTURE)}, "page.image", "image"),
        ("album", {"cover": asdict(PICTURE)}, "album.cover", "image"),
        ("report", {"title": "t"}, "report", "report"),
        ("notes", {"a": "b"}, "notes", "notes"),
    ],
)
def test_spelled_reference_is_found_at_any_depth(
    argument: str, value: object, place: str, kind: str
):
    (found,) = spelled_references(publish, {argument: value})
    assert (found.argument, found.place) == (argument, place)
    assert found.kind in {kind, "image"}


def test_results_of_steps_and_plain_objects_pass():
    given = {
        "heading": "h",
        "image": "$pic",
        "files": ["$one", "$two"],
        "chapter": {"sections": {"one": [{"heading": "h", "images": ["$pic"]}]}},
        "anything": asdict(PICTURE),
        "unknown": asdict(PICTURE),
    }
    assert spelled_references(publish, given) == []


def test_after_resolving_only_typed_values_stand_for_references():
    typed = {"image": PICTURE, "files": (PICTURE,), "page": {"image": PICTURE}}
    assert spelled_references(publish, typed, resolved=True) == []
    # A mapping is what some references are; a class is never a mapping.
    assert spelled_references(publish, {"notes": {"a": "b"}}, resolved=True) == []
    (found,) = spelled_references(publish, {"report": {"title": "t"}}, resolved=True)
    assert found.place == "report"
