"""Collecting the facts of one analysis, and the notes that cite them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import duckdb

from planloom.analysis.database import identifier, plain
from planloom.notes import Note, Scalar
from planloom.values import Fact

_CITED = re.compile(r"<([\w.\-]+)((?:\|[^<>|]*\|[^<>|]*)?)>")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A relation that facts are read from."""

    sql: str
    """What follows FROM in the query on record."""
    kept: str
    """What follows FROM here: the same rows, computed once."""

    def derive(self, select: str, where: str = "") -> Source:
        """Return the rows that `select` (columns) makes of this source, as a source."""
        return Source(
            sql=f"({select} FROM {self.sql} {where}) AS derived",
            kept=f"({select} FROM {self.kept} {where}) AS derived",
        )


class FactSheet:
    """The facts of an analysis by short name; each is computed as it is added.

    A fact's query on record reads the analysed table; here it reads kept results, so that twenty
    facts do not cost twenty scans.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, prefix: str, base: str) -> None:
        self._connection = connection
        self.prefix = prefix
        self._base = base
        self._facts: dict[str, Fact] = {}
        self.base = Source(sql=identifier(base), kept=identifier(base))

    def keep(self, query: str, name: str) -> Source:
        """Compute `query` once, as temporary table `name`, and return it as a source."""
        kept = identifier(name)
        self._connection.execute(f"CREATE TEMP TABLE {kept} AS {query}")
        return Source(sql=f"({query}) AS result", kept=kept)

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query over kept sources, for decisions that need no fact."""
        return self._connection.execute(query).fetchall()

    def add(
        self,
        what: str,
        label: Note,
        value: str,
        source: Source,
        *,
        where: str = "",
        rows: str = "count(*)",
        unit: str = "",
    ) -> Scalar:
        """Add the fact `what` and return its value.

        `value` and `rows` are SQL expressions over `source`; `where` is what follows its FROM.
        The query has to give one row.
        """
        tail = f" {where}" if where else ""
        found, based_on = self._connection.execute(
            f"SELECT {value}, coalesce({rows}, 0) FROM {source.kept}{tail}"
        ).fetchall()[0]
        fact = Fact(
            id=f"{self.prefix}.{what}",
            label=label,
            value=plain(found),
            unit=unit,
            query=f"SELECT {value} FROM {source.sql}{tail}",
            table=self._base,
            rows=int(based_on),
        )
        self._facts[what] = fact
        return fact.value

    def value(self, what: str) -> Scalar:
        """Return the value of a fact; KeyError when it was not added."""
        return self._facts[what].value

    def number(self, what: str) -> float:
        """Return the value of a numeric fact; 0 for None, as of a group without values."""
        value = self._facts[what].value
        return value if isinstance(value, int | float) else 0

    def has(self, *names: str) -> bool:
        """Tell whether facts of these names were added and have values."""
        return all(name in self._facts and self._facts[name].value is not None for name in names)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, in the order of adding."""
        return tuple(self._facts.values())

    def note(self, en: str, zh: str, **args: str) -> Note:
        """Return a note in which `<what>` cites the fact `what`, and `<what|row|rows>` counts.

        Raises:
            KeyError: it cites a fact that was not added.
        """

        def cite(match: re.Match[str]) -> str:
            what, forms = match.groups()
            return "{{" + self._facts[what].id + forms + "}}"

        used = {name: arg for name, arg in args.items() if f"{{{name}}}" in en + zh}
        return Note(_CITED.sub(cite, en), _CITED.sub(cite, zh), used)
