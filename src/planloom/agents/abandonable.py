"""Waits for a function that may never return, such as one that asks a person."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def wait_abandonable(function: Callable[[], T]) -> T:
    """Call a function in a daemon thread of its own, and return what it returns or raise its error.

    When the wait is cancelled, the thread is left to itself. `asyncio.to_thread` will not do:
    `asyncio.run` joins its threads, and would hang until the person types.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def call() -> None:
        end: Callable[[], None]
        try:
            end = partial(_finish, future, context.run(function))
        except BaseException as error:  # noqa: BLE001 -- whatever it is: raised where it is awaited
            end = partial(_fail, future, error)
        # A closed loop: the run has ended without the answer.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(end)

    threading.Thread(target=call, name="planloom-question", daemon=True).start()
    return await future


def _finish(future: asyncio.Future[T], result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[T], error: BaseException) -> None:
    if future.done():
        return
    if isinstance(error, StopIteration):  # a future refuses it
        told = RuntimeError("The function raised StopIteration.")
        told.__cause__ = error
        error = told
    future.set_exception(error)
