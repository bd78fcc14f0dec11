"""Names of result columns that do not clash, also when upper and lower case are one."""

from __future__ import annotations


def distinct_names(*wanted: str) -> tuple[str, ...]:
    """Return the wanted names, later ones with a number where an earlier one is alike.

    >>> distinct_names("Rows", "amount", "rows")
    ('Rows', 'amount', 'rows_2')
    """
    taken: set[str] = set()
    names: list[str] = []
    for name in wanted:
        free, number = name, 1
        # SQL compares names without regard to case.
        while free.casefold() in taken:
            number += 1
            free = f"{name}_{number}"
        taken.add(free.casefold())
        names.append(free)
    return tuple(names)
