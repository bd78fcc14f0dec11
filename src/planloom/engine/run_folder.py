"""The folder of a run on disk: its events, plans and task record, each true at any moment."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from planloom.engine.artifacts import ArtifactStore, unwritable, write_atomically
from planloom.engine.json_value import JsonValue
from planloom.engine.masking import masked
from planloom.engine.task import Task
from planloom.errors import InputError
from planloom.events import Event, EventSink, line_writer

SAVE_INTERVAL_S = 0.2
"""Writing the whole record at each end would cost the square of the number of steps."""

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{2,99}")


def new_run_id(
    now: datetime | None = None, *, token: Callable[[], str] = lambda: secrets.token_hex(3)
) -> str:
    """Return an id that sorts by time, to the millisecond, and is random behind it.

    >>> new_run_id(datetime(2026, 11, 30, 14, 5, 9, 87_000, tzinfo=UTC), token=lambda: "3fa9c2")
    '20261130-140509-087-3fa9c2'
    """
    now = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}-{token()}"


class RunFolder:
    """`runs/<id>/` of a home folder.

    events.jsonl: the event stream · task.json: the records · plan-<epoch>.json: the plans, for
    people, so that secrets are masked; a run is resumed from task.json, which has them all ·
    steps/<epoch.step>/: what tools write · artifacts/: what the engine keeps.
    """

    def __init__(self, home: Path, run_id: str, *, clock: Callable[[], float] = time.monotonic):
        """Take the home folder and the id; nothing is made on disk yet.

        Raises:
            InputError: the id cannot be the name of a run's folder.
        """
        if not _RUN_ID.fullmatch(run_id):
            raise InputError(
                f"'{run_id}' cannot be the id of a run: small letters, digits, - and _ only."
            )
        self.run_id = run_id
        self.path = home.resolve() / "runs" / run_id
        self.artifacts = ArtifactStore(self.path)
        self._clock = clock
        self._plans_written = 0
        self._saved_at = -SAVE_INTERVAL_S
        self._saved_plans: tuple[int, int, bool] = (0, 0, False)

    def open_events(self) -> TextIO:
        """Return events.jsonl open for appending, for `events.line_writer`; the caller closes it.

        Raises:
            InputError: the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            return (self.path / "events.jsonl").open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise unwritable(self.path, error) from error

    @contextmanager
    def event_log(self) -> Generator[EventSink]:
        """Give a sink that appends to events.jsonl.

        Raises:
            InputError: the file cannot be written, now or at any event; a full disk, most often.
        """
        log = self.open_events()
        write = line_writer(log)

        def write_or_say(event: Event) -> None:
            try:
                write(event)
            except OSError as error:
                raise unwritable(self.path / "events.jsonl", error) from error

        try:
            yield write_or_say
        finally:
            # What could not be written was told already, with the event.
            with suppress(OSError):
                log.close()

    def save(self, task: Task) -> None:
        """Write task.json, and a file for each plan that is new.

        While steps end faster than `SAVE_INTERVAL_S`, task.json follows by that much; the event
        stream has each at once. The begin, a new or longer plan and the end of a run are written
        always.
        """
        self._save_plans(task)
        plans = _size(task)
        soon = self._clock() - self._saved_at < SAVE_INTERVAL_S
        if soon and task.status == "running" and plans == self._saved_plans:
            return
        self._write("task.json", task.to_json())
        self._saved_at, self._saved_plans = self._clock(), plans

    def _save_plans(self, task: Task) -> None:
        for epoch in range(self._plans_written + 1, task.epoch + 1):
            plan = task.plans[epoch - 1]
            # One that is still being written is in task.json; its file comes when it stands.
            if plan.complete or epoch < task.epoch or task.status != "running":
                self._write(f"plan-{epoch}.json", masked(plan.to_json()))
                self._plans_written = epoch

    def load_task(self) -> Task:
        """Return the task as last saved.

        Raises:
            InputError: there is no such run, or its record cannot be read.
        """
        path = self.path / "task.json"
        try:
            return Task.from_json(json.loads(path.read_text("utf-8")))
        except FileNotFoundError as error:
            raise InputError(f"There is no run '{self.run_id}' in {self.path.parent}.") from error
        except ValueError as error:
            raise InputError(f"The record {path} cannot be read: {error}.") from error

    def _write(self, name: str, value: JsonValue) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        write_atomically(self.path / name, text.encode("utf-8"))


def _size(task: Task) -> tuple[int, int, bool]:
    """Return what grows when the latest plan does: its number, its steps, and whether it stands."""
    latest = task.plans[-1] if task.plans else None
    return (task.epoch, len(latest.steps), latest.complete) if latest else (0, 0, False)
