"""Keeps what the steps of a run make: identity, shape, preview, and a check on every read."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from planloom.engine.json_value import JsonObject, JsonReader, JsonValue, one_of
from planloom.errors import InputError, ToolError
from planloom.values import FileRef, ImageRef, TableRef, file_sha256

SCHEMA = 1
PREVIEW_CHARS = 1000
"""Of the head and of the tail of a text together."""

ArtifactKind = Literal["text", "json", "table", "image", "file"]


class ArtifactError(ToolError):
    """The file of an artifact is gone or is not what was written."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A value that the engine keeps."""

    id: str
    """Unique in its run; says its producer: "1.load", "1.load-2"."""
    kind: ArtifactKind
    producer: str
    """Key of the step: `run/epoch.step`."""
    path: str
    """Relative to the run's folder where it lies inside, else absolute."""
    size: int
    """Bytes."""
    sha256: str
    shape: Mapping[str, JsonValue]
    """table: rows, columns (name, type, unit); image: width, height, alt; file: media_type;
    text: chars, lines; json: type, items."""
    preview: str
    """Bounded text: head and tail, or what a table or picture is."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the artifact as a JSON object with its schema."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "kind": self.kind,
            "producer": self.producer,
            "path": self.path,
            "size": self.size,
            "sha256": self.sha256,
            "shape": self.shape,
            "preview": self.preview,
        }

    @classmethod
    def from_json(cls, value: object) -> Artifact:
        """Return the artifact that `to_json` wrote; ValueError when it is none."""
        data = JsonReader(value, "the artifact")
        return cls(
            id=data.text("id"),
            kind=one_of(data.text("kind"), get_args(ArtifactKind), "a kind of artifact"),
            producer=data.text("producer"),
            path=data.text("path"),
            size=data.integer("size"),
            sha256=data.text("sha256"),
            shape=data.mapping("shape"),
            preview=data.text("preview", ""),
        )


class ArtifactStore:
    """The artifacts of one run, in its folder; nothing is kept in memory but what was checked."""

    def __init__(self, folder: Path):
        self._folder = folder.resolve()
        self._own = self._folder / "artifacts"
        self._checked: dict[Path, tuple[int, int, str]] = {}

    def step_folder(self, key: str, *, make: bool = True) -> Path:
        """Return the folder of a step, made if need be: `steps/<epoch.step>/` of the run."""
        folder = self._folder / "steps" / key.rpartition("/")[2]
        if not make:
            return folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
        return folder

    def keep_files(self, value: object, producer: str) -> list[Artifact]:
        """Keep every table, picture and file that a value refers to, in the order found."""
        refs = {ref.path: ref for ref in refs_in(value)}
        return [
            self._keep_ref(ref, self._id(producer, number), producer)
            for number, ref in enumerate(refs.values(), start=1)
        ]

    def keep_text(self, text: str, producer: str, *, number: int = 1) -> Artifact:
        """Keep a text as a file; `number` tells the artifacts of one step apart."""
        shape: JsonObject = {"chars": len(text), "lines": text.count("\n") + 1}
        return self._write("text", text, self._id(producer, number), producer, shape)

    def keep_json(self, value: JsonValue, producer: str, *, number: int = 1) -> Artifact:
        """Keep a JSON value as a file; `number` tells the artifacts of one step apart."""
        items = len(value) if isinstance(value, Sequence | Mapping) else 1
        shape: JsonObject = {"type": type(value).__name__, "items": items}
        text = json.dumps(value, ensure_ascii=False)
        return self._write("json", text, self._id(producer, number), producer, shape)

    def get(self, artifact_id: str) -> Artifact:
        """Return what is known of an artifact.

        Raises:
            ArtifactError: the run has none of that id, or its record cannot be read.
        """
        path = self._record_path(artifact_id)
        try:
            return Artifact.from_json(json.loads(path.read_text("utf-8")))
        except FileNotFoundError as error:
            raise ArtifactError(f"The run has no artifact '{artifact_id}'.") from error
        except ValueError as error:
            raise ArtifactError(f"The record of artifact '{artifact_id}' is damaged.") from error

    def all(self) -> list[Artifact]:
        """Return every artifact of the run, by id."""
        names = (path.name for path in self._own.glob("*.artifact.json"))
        return [self.get(name) for name in sorted(n.removesuffix(".artifact.json") for n in names)]

    def path(self, artifact_id: str) -> Path:
        """Return the file of an artifact, checked against its sha256.

        Raises:
            ArtifactError: the file is gone, or was altered since it was written.
        """
        artifact = self.get(artifact_id)
        path = self._folder / artifact.path
        self._check(path, artifact.sha256, f"artifact '{artifact_id}'")
        return path

    def read_text(self, artifact_id: str) -> str:
        """Return the text of a text or JSON artifact; errors as for `path`."""
        return self.path(artifact_id).read_text("utf-8")

    def read_json(self, artifact_id: str) -> JsonValue:
        """Return the value of a JSON artifact; errors as for `path`."""
        return json.loads(self.read_text(artifact_id))

    def check_files(self, value: object) -> None:
        """Check that every file a value refers to is there and unaltered.

        A file is read again only when its size or time has changed since the last look.

        Raises:
            ArtifactError: one is not.
        """
        for ref in refs_in(value):
            self._check(Path(ref.path), ref.sha256, f"the file '{ref.path}'")

    def _id(self, producer: str, number: int) -> str:
        name = producer.rpartition("/")[2]
        return name if number == 1 else f"{name}-{number}"

    def _keep_ref(self, ref: TableRef | FileRef, artifact_id: str, producer: str) -> Artifact:
        path = Path(ref.path)
        self._check(path, ref.sha256, f"the file '{ref.path}'")
        inside = path.resolve().is_relative_to(self._folder)
        kind, shape, preview = _described(ref)
        artifact = Artifact(
            id=artifact_id,
            kind=kind,
            producer=producer,
            path=path.resolve().relative_to(self._folder).as_posix() if inside else str(path),
            size=path.stat().st_size,
            sha256=ref.sha256,
            shape=shape,
            preview=preview,
        )
        return self._record(artifact)

    def _write(
        self, kind: Literal["text", "json"], text: str, artifact_id: str, producer: str,
        shape: JsonObject,
    ) -> Artifact:  # fmt: skip
        path = self._own / f"{artifact_id}.{'txt' if kind == 'text' else 'json'}"
        data = text.encode("utf-8")
        write_atomically(path, data)
        artifact = Artifact(
            id=artifact_id,
            kind=kind,
            producer=producer,
            path=path.relative_to(self._folder).as_posix(),
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            shape=shape,
            preview=head_and_tail(text),
        )
        return self._record(artifact)

    def _record(self, artifact: Artifact) -> Artifact:
        text = json.dumps(artifact.to_json(), ensure_ascii=False)
        write_atomically(self._record_path(artifact.id), text.encode("utf-8"))
        return artifact

    def _record_path(self, artifact_id: str) -> Path:
        # The id may come from a model: it names a file here and nothing elsewhere.
        return self._own / f"{Path(artifact_id).name}.artifact.json"

    def _check(self, path: Path, sha256: str, what: str) -> None:
        try:
            stat = path.stat()
            if self._checked.get(path) == (stat.st_mtime_ns, stat.st_size, sha256):
                return
            found = file_sha256(path)
        except OSError as error:
            raise ArtifactError(
                f"The content of {what} is gone ({error.strerror}: {path}). "
                "Run the step that made it again."
            ) from error
        if found != sha256:
            raise ArtifactError(
                f"The content of {what} was altered after it was written: {path} has sha256 "
                f"{found[:12]}, recorded is {sha256[:12]}. Run the step that made it again."
            )
        self._checked[path] = (stat.st_mtime_ns, stat.st_size, sha256)


def refs_in(value: object) -> Iterator[TableRef | FileRef]:
    """Yield the references to files inside a value, from the outside in."""
    if isinstance(value, TableRef | FileRef):
        yield value
    elif isinstance(value, Mapping):
        for item in cast("Mapping[object, object]", value).values():
            yield from refs_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in cast("Sequence[object]", value):
            yield from refs_in(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from refs_in(getattr(value, field.name))


def head_and_tail(text: str, limit: int = PREVIEW_CHARS) -> str:
    """Return a text whole when it is short, else its head and tail with the number left out.

    >>> head_and_tail("abcdefgh", 4)
    'ab [... 4 characters ...] gh'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under another name and rename it: nobody ever sees half of it.

    Raises:
        InputError: the file cannot be written, such as on a full disk.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            temporary.write_bytes(data)
        except FileNotFoundError:  # the first file of its folder
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> InputError:
    """Return what to tell a user whose run cannot be recorded."""
    why = error.strerror or str(error)
    return InputError(
        f"The run's folder cannot be written ({why}: {path}). "
        "Free some space, or set PLANLOOM_HOME to a folder that can be written.",
        zh=f"无法写入运行目录（{why}：{path}）。请清理磁盘空间，"
        "或将 PLANLOOM_HOME 设为可写的目录。",
    )


def _described(ref: TableRef | FileRef) -> tuple[ArtifactKind, JsonObject, str]:
    """Return kind, shape and preview of a reference."""
    if isinstance(ref, TableRef):
        columns = [{"name": c.name, "type": c.type, "unit": c.unit} for c in ref.columns]
        listed = ", ".join(f"{c.name} ({c.type})" for c in ref.columns)
        preview = head_and_tail(f"{ref.rows} rows; columns: {listed}")
        return "table", {"rows": ref.rows, "columns": columns}, preview
    if isinstance(ref, ImageRef):
        shape = {"width": ref.width, "height": ref.height, "alt": ref.alt}
        return "image", shape, head_and_tail(f"{ref.alt} ({ref.width} x {ref.height} pixels)")
    preview = f"{Path(ref.path).name} ({ref.media_type}, {ref.size} bytes)"
    return "file", {"media_type": ref.media_type}, preview
