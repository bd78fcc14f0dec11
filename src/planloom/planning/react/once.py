"""Keeps a loop from doing the same thing to the world twice."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from planloom.models.chat_model import Json, ToolSpec
from planloom.planning.react.toolbox import Observation, Toolbox
from planloom.tools.options import Effect

DONE = "Not done again: this very call was made before, and it worked. Its result was:\n{result}"
UNSURE = (
    "Not done again: this very call was made before, and how it ended is not known. It may have "
    "happened already. Say so in your answer. What came of it was:\n{result}"
)

_UNSURE_KINDS = frozenset({"timeout", "cancelled", "crash"})
"""Failures that may come after the call had its effect."""


@dataclass(frozen=True, slots=True)
class OfferedTool(ToolSpec):
    """A tool as a model is told of it, with what the loop has to know besides."""

    effect: Effect = "pure"
    idempotent: bool = True


class OnceToolbox:
    """A `Toolbox` around another that makes no call again that sent or wrote something.

    A call with other arguments is another call, and one that failed may be tried again, but not
    one that was broken off or crashed: it may have had its effect. What was written may be written
    again after something else was done, which may have overwritten it.
    """

    def __init__(self, inner: Toolbox):
        self._inner = inner
        self._sent: dict[str, str] = {}
        """What is said to a call that is made again."""
        self._written: dict[str, str] = {}
        """The same, since the last call that changed something else."""
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools of the inner toolbox."""
        return self._inner.specs

    async def call(self, name: str, arguments: Mapping[str, Json], call_id: str, /) -> Observation:
        """Make a call, unless it was made before."""
        tool = next((spec for spec in self.specs if spec.name == name), None)
        if not isinstance(tool, OfferedTool) or tool.effect in {"pure", "read"}:
            return await self._inner.call(name, arguments, call_id)
        if tool.idempotent or tool.effect == "exec":
            self._written.clear()
            return await self._inner.call(name, arguments, call_id)
        key = json.dumps([name, arguments], sort_keys=True, ensure_ascii=False, default=str)
        # Those made at once wait for the first: only then is known whether it worked.
        async with self._locks[key]:
            done = self._sent.get(key) or self._written.get(key)
            if done:
                return replace(Observation.failure("repeated", done), repeatable=False)
            try:
                seen = await self._inner.call(name, arguments, call_id)
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
                self._note(key, tool.effect, UNSURE.format(result=said))
                raise
            if seen.ok:
                self._note(key, tool.effect, DONE.format(result=seen.text))
            elif seen.error_kind in _UNSURE_KINDS:
                self._note(key, tool.effect, UNSURE.format(result=seen.text))
            return seen

    def _note(self, key: str, effect: Effect, said: str) -> None:
        if effect == "send":
            self._sent[key] = said
        else:
            self._written = {key: said}
