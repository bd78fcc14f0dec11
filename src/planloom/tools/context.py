"""What a running tool is told about its call: where it may read and write, and its key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from planloom.errors import ToolError
from planloom.notes import Lang


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Handed to a tool that has a parameter annotated `ToolContext`; not part of its schema."""

    key: str
    """`run/epoch.step`: the same on a retry of the call; the idempotency key of its effects."""
    folder: Path
    """The call's own folder inside the run; a tool may write here freely."""
    lang: Lang = "en"
    """Language of texts that the tool makes for people."""
    readable: tuple[Path, ...] = ()
    """Files and folders outside the run that the user named, so tools may read them."""
    writable: tuple[Path, ...] = ()
    """Folders outside the run that the user named, so tools may write there."""
    workspace: Path = field(default_factory=Path.cwd)
    """Relative paths start here; files below it may be read."""

    def input_path(self, path: str) -> Path:
        """Return the real path of a file that the call may read.

        Raises:
            ToolError: the path leads outside of what the user opened.
        """
        return self._inside(path, (self.workspace, self.folder.parent, *self.readable), "read")

    def output_path(self, path: str) -> Path:
        """Return the real path of a file or folder that the call may write.

        Raises:
            ToolError: the path leads outside of the run and of what the user opened.
        """
        return self._inside(path, (self.folder, *self.writable), "written")

    def _inside(self, path: str, roots: tuple[Path, ...], deed: str) -> Path:
        # Resolved before the comparison: "..", links and drive letters must not lead out.
        real = (self.workspace / path).resolve()
        if any(real.is_relative_to(root.resolve()) for root in roots):
            return real
        opened = ", ".join(str(root) for root in roots)
        raise ToolError(
            f"'{path}' may not be {deed}: it lies outside of {opened}. "
            "Open it by naming it, on the command line or in Agent(readable=..., writable=...)."
        )
