from __future__ import annotations

import gc
from contextvars import copy_context

from planloom.interruption import InterruptHooks, on_interrupt


class Query:
    def __init__(self) -> None:
        self.stops = 0

    def stop(self) -> None:
        self.stops += 1


def test_registered_work_is_told_each_time() -> None:
    hooks, query = InterruptHooks(), Query()

    def work() -> None:
        hooks.install()
        on_interrupt(query, Query.stop)

    copy_context().run(work)
    hooks.run()
    hooks.run()
    assert query.stops == 2


def test_nothing_is_kept_outside_of_endable_work() -> None:
    query = Query()
    copy_context().run(on_interrupt, query, Query.stop)
    assert query.stops == 0


def test_an_owner_that_is_gone_is_left_alone() -> None:
    hooks = InterruptHooks()

    def work() -> None:
        hooks.install()
        on_interrupt(Query(), Query.stop)

    copy_context().run(work)
    gc.collect()
    hooks.run()
