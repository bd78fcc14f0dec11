"""What stands between the values of a run and its models: a mask, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, Protocol, TypeVar

from planloom.values import TableRef

J = TypeVar("J")

Kind = Literal["name", "mail", "phone", "id", "card", "address", "birthday"]
"""What a piece of personal data is."""


class Mask(Protocol):
    """Puts stand-ins for personal data into what a model reads, and values back after it."""

    @property
    def sends(self) -> bool:
        """Whether values are let through."""
        ...

    def table(self, table: TableRef, personal: Iterable[str] = ()) -> Mapping[str, Kind]:
        """Return the columns of a table whose cells are masked."""
        ...

    def cell(self, text: str, kind: Kind | None, column: str = "") -> str:
        """Return a cell, or its stand-in."""
        ...

    def text(self, text: str) -> str:
        """Return a text with stand-ins."""
        ...

    def value(self, value: J) -> J:
        """Return a JSON value with stand-ins."""
        ...

    def arguments(self, value: J) -> J:
        """Return the arguments of a planned call with stand-ins."""
        ...

    def restored(self, text: str, written: Callable[[str], str] = str) -> str:
        """Return a model's text with values in place of stand-ins, spelled by `written`."""
        ...

    def restored_value(self, value: J, written: Callable[[str], str] = str) -> J:
        """Return a model's JSON value with values in place of stand-ins."""
        ...

    def expect(self, columns: Iterable[str]) -> None:
        """Tell of columns with personal data that were found by other means."""
        ...


class Unmasked:
    """Shows everything as it is, and tells nobody."""

    sends = True

    def table(self, table: TableRef, personal: Iterable[str] = ()) -> Mapping[str, Kind]:
        """Return no column."""
        del table, personal
        return {}

    def cell(self, text: str, kind: Kind | None, column: str = "") -> str:
        """Return the cell."""
        del kind, column
        return text

    def text(self, text: str) -> str:
        """Return the text."""
        return text

    def value(self, value: J) -> J:
        """Return the value."""
        return value

    def arguments(self, value: J) -> J:
        """Return the arguments."""
        return value

    def restored(self, text: str, written: Callable[[str], str] = str) -> str:
        """Return the text."""
        del written
        return text

    def restored_value(self, value: J, written: Callable[[str], str] = str) -> J:
        """Return the value."""
        del written
        return value

    def expect(self, columns: Iterable[str]) -> None:
        """Do nothing."""
        del columns


UNMASKED = Unmasked()
