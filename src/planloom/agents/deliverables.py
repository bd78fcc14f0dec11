"""Hands out the files that a run made: copies of them where the user is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from planloom.analysis.export import export_csv
from planloom.engine.artifacts import Artifact, ArtifactStore, refs_in
from planloom.errors import InputError, ToolError, UsageError
from planloom.tools.reports import ReportRef, SavedReport
from planloom.values import FileRef, TableRef


def hand_out(results: Mapping[str, object], store: ArtifactStore, out: Path) -> tuple[Path, ...]:
    """Copy what a run made into a folder, and return the paths of the copies.

    Those are the files of its outputs (a table as CSV), and the pictures and files that its steps
    made on the way. Without any, nothing is made. A file that is there already stays: the copy
    gets another name.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        return tuple(_copies(results, store, out))
    except OSError as error:
        raise _not_writable(out, error) from error


def check_out(out: Path) -> None:
    """Refuse a folder that files cannot be copied to, before anything is paid for.

    Raises:
        UsageError: it is no folder, lies in none, or may not be written.
    """
    try:
        parent = next(path for path in (out, *out.parents) if path.exists())
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(
            f"Files cannot be written to '{out}': {why}. Choose another folder with --out.",
            zh=f"无法将文件写入“{out}”：{why}。请用 --out 指定其他文件夹。",
        ) from error
    if not parent.is_dir():
        raise UsageError(
            f"Files cannot be written to '{out}': '{parent}' is a file. "
            "Choose another folder with --out.",
            zh=f"无法将文件写入“{out}”：“{parent}”是文件。请用 --out 指定其他文件夹。",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"Files cannot be written to '{out}': no permission to write in '{parent}'. "
            "Choose another folder with --out.",
            zh=f"无法将文件写入“{out}”：没有“{parent}”的写权限。请用 --out 指定其他文件夹。",
        )


def _copies(results: Mapping[str, object], store: ArtifactStore, out: Path) -> Iterator[Path]:
    done: set[Path] = set()
    for step, value in results.items():
        for ref in refs_in(value):
            if (source := Path(ref.path).resolve()) not in done:
                done.add(source)
                yield _copy(ref, step, out)
    if any(isinstance(ref, ReportRef | SavedReport) for ref in refs_in(results)):
        return  # a report holds its pictures
    for artifact in store.all():
        path = _made_on_the_way(artifact, store)
        if path and path not in done and not any(path.is_relative_to(d.parent) for d in done):
            done.add(path)
            yield _copy_file(path, out)


def _copy(ref: TableRef | FileRef, step: str, out: Path) -> Path:
    if isinstance(ref, SavedReport):
        return Path(ref.path)  # it is where the user wanted it
    if isinstance(ref, ReportRef):
        folder = _free(out, "report")
        shutil.copytree(ref.folder, folder)
        return folder / Path(ref.path).name
    if isinstance(ref, TableRef):
        return export_csv(ref, _free(out, f"{step}.csv"))
    return _copy_file(Path(ref.path), out)


def _copy_file(path: Path, out: Path) -> Path:
    return Path(shutil.copyfile(path, _free(out, path.name)))


def _made_on_the_way(artifact: Artifact, store: ArtifactStore) -> Path | None:
    """Return the file of a picture or file that lies in the run's own folder and is unaltered."""
    if artifact.kind not in {"image", "file"} or Path(artifact.path).is_absolute():
        return None
    try:
        return store.path(artifact.id).resolve()
    except ToolError:
        return None


def _free(folder: Path, name: str) -> Path:
    """Return a path in the folder, which is made, that nothing has yet."""
    folder.mkdir(parents=True, exist_ok=True)
    path, number = folder / name, 2
    while path.exists():
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
        number += 1
    return path


def _not_writable(out: Path, error: OSError) -> InputError:
    why = error.strerror or str(error)
    return InputError(
        f"The files cannot be copied to {out} ({why}). They are in the run's folder; "
        "choose another folder with --out.",
        zh=f"无法将文件复制到 {out}（{why}）。文件保留在运行目录中，请用 --out 指定其他文件夹。",
    )
