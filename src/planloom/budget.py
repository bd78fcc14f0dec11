"""What a run may spend, and what it has spent: reserved before a call, settled after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from planloom.bill import Bill, BillLine, money
from planloom.errors import BudgetExhaustedError, ConfigError

LimitName = Literal["max_cost", "max_tokens", "max_calls", "max_seconds"]
_LIMIT_NAMES: tuple[LimitName, ...] = ("max_cost", "max_tokens", "max_calls", "max_seconds")
_SET_ASIDE: frozenset[LimitName] = frozenset({"max_cost", "max_tokens"})
"""What a call may turn out to take less of than was reserved for it."""
_ROUNDING = 1e-9
"""Sums of money drift by less."""

NEARLY_USED = 0.8
"""The share of a limit from which on it is worth a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a run, with everything below it, may spend; None means no limit."""

    max_cost: float | None = None
    """Money, in the currency of the price table (US dollars)."""
    max_tokens: int | None = None
    """Of prompts and completions together."""
    max_calls: int | None = None
    """Calls of models."""
    max_seconds: float | None = None
    """Wall time."""

    def of(self, name: LimitName) -> float | None:
        """Return one of the limits."""
        limit: float | None = getattr(self, name)
        return limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What a call may take at worst, or has taken."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """None where no price is known."""
    seconds: float = 0.0
    cached_tokens: int = 0
    """Those of the prompt that came from the provider's cache."""
    estimated: bool = False
    """Not told by the provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """How far a limit is used."""

    limit: LimitName
    used: float
    allowed: float


class Reservation:
    """What was set aside for one call, until it is settled or released."""

    __slots__ = ("worst",)

    def __init__(self, worst: Spend):
        self.worst = worst


class Budget:
    """What a run, with everything below it, may spend and has spent.

    A call first reserves the most it may take, so that calls made at once cannot together go over
    a limit; after it, what it really took is settled. A child draws from its own limits and from
    those of every budget above it. Safe to use from several threads.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        parent: Budget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """Start now: `Limits.max_seconds` counts from here, by `clock` (seconds)."""
        self.limits = limits or Limits()
        self._set: tuple[LimitName, ...] = tuple(
            name for name in _LIMIT_NAMES if self.limits.of(name) is not None
        )
        self._above: tuple[Budget, ...] = (parent, *parent._above) if parent else ()
        self._clock = clock
        self._started = clock()
        self._lock: threading.Lock = parent._lock if parent else threading.Lock()
        self._open: set[Reservation] = set()
        self._reserved = _Amounts()
        self._spent = _Amounts()
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._warned: set[LimitName] = set()

    def child(self, limits: Limits | None = None) -> Budget:
        """Return a budget for a part of the run, which draws from this one too."""
        return Budget(limits, parent=self, clock=self._clock)

    def reserve(self, worst: Spend) -> Reservation:
        """Set aside the most that a call may take.

        `Spend.seconds` is how long it must be able to run; 0 asks only that time is left.

        Raises:
            BudgetExhaustedError: it would go over a limit of this budget or of one above it;
                nothing was set aside.
            ConfigError: money is limited and the price of the call is not known.
        """
        with self._lock:
            for budget in self._chain:
                budget._check(worst)
            reservation = Reservation(worst)
            self._open.add(reservation)
            for budget in self._chain:
                budget._reserved.add(worst, 1)
        return reservation

    def may_fit_later(self, worst: Spend) -> bool:
        """Tell whether a reservation that was refused may fit when calls under way have settled.

        They mostly take less than was set aside for them: tokens and money, not calls or time.
        """
        with self._lock:
            return all(budget._may_fit_later(worst) for budget in self._chain)

    def settle(
        self, reservation: Reservation, actual: Spend, *, step: str = "", model: str = ""
    ) -> None:
        """Replace a reservation by what the call took, be it more than was set aside.

        A call that failed or was cancelled is settled too, with what it is thought to have taken.
        """
        with self._lock:
            self._close(reservation)
            for budget in self._chain:
                budget._spent.add(actual, 1)
                budget._write_down(actual, step, model)

    def release(self, reservation: Reservation) -> None:
        """Give back a reservation whose call was never made."""
        with self._lock:
            self._close(reservation)

    def remaining(self) -> Limits:
        """Return what may still be reserved, here and above; None where nothing limits it."""
        with self._lock:
            cost, tokens, calls, seconds = (self._least_left(name) for name in _LIMIT_NAMES)
        return Limits(
            max_cost=cost,
            max_tokens=None if tokens is None else int(tokens),
            max_calls=None if calls is None else int(calls),
            max_seconds=seconds,
        )

    def seconds_left(self) -> float | None:
        """Return how much time is left, here and above; None where nothing limits it."""
        return self._least_left("max_seconds")

    @property
    def limits_spending(self) -> bool:
        """Whether money or tokens are limited, here or above."""
        return any(
            budget.limits.max_cost is not None or budget.limits.max_tokens is not None
            for budget in self._chain
        )

    def bill(self) -> Bill:
        """Return what has been settled here and below."""
        with self._lock:
            lines = [account.line(*key) for key, account in self._accounts.items()]
            return Bill(lines=tuple(lines), seconds=self._elapsed())

    def new_warnings(self) -> tuple[LimitUse, ...]:
        """Return the limits that are four fifths used, here and above, each only once."""
        with self._lock:
            return tuple(use for budget in self._chain for use in budget._crossed())

    @property
    def _chain(self) -> tuple[Budget, ...]:
        """This budget and those above it."""
        return self, *self._above

    def _elapsed(self) -> float:
        return self._clock() - self._started

    def _used(self, name: LimitName) -> float:
        """What is spent, not what is merely set aside."""
        return self._elapsed() if name == "max_seconds" else self._spent.of(name)

    def _left(self, name: LimitName) -> float:
        limit = self.limits.of(name) or 0
        # Time passes once for all calls made at once: it is never set aside.
        held = 0.0 if name == "max_seconds" else self._reserved.of(name)
        return max(0.0, limit - self._used(name) - held)

    def _least_left(self, name: LimitName) -> float | None:
        return min(
            [budget._left(name) for budget in self._chain if name in budget._set], default=None
        )

    def _may_fit_later(self, worst: Spend) -> bool:
        return all(
            _asked(worst, name) <= (self.limits.of(name) or 0) - self._used(name) + _ROUNDING
            if name in _SET_ASIDE
            else not self._lacks(worst, name)
            for name in self._set
        )

    def _lacks(self, worst: Spend, name: LimitName) -> bool:
        left = self._left(name)
        is_out_of_time = name == "max_seconds" and left <= 0
        return is_out_of_time or _asked(worst, name) > left + _ROUNDING

    def _check(self, worst: Spend) -> None:
        if worst.cost is None and self.limits.max_cost is not None:
            raise price_unknown(self.limits.max_cost)
        for name in self._set:
            if self._lacks(worst, name):
                raise _exhausted(
                    LimitUse(limit=name, used=self._used(name), allowed=self.limits.of(name) or 0),
                    wanted=_asked(worst, name),
                    left=self._left(name),
                    whole_run=not self._above,
                )

    def _close(self, reservation: Reservation) -> None:
        if reservation not in self._open:
            raise ValueError("The reservation was settled or released before, or elsewhere.")
        self._open.remove(reservation)
        for budget in self._chain:
            budget._reserved.add(reservation.worst, -1)

    def _write_down(self, actual: Spend, step: str, model: str) -> None:
        account = self._accounts.get((step, model))
        if account is None:
            account = self._accounts[step, model] = _Account()
        account.add(actual)

    def _crossed(self) -> Iterator[LimitUse]:
        for name in self._set:
            if name in self._warned:
                continue
            used, limit = self._used(name), self.limits.of(name) or 0
            if used >= limit * NEARLY_USED:
                self._warned.add(name)
                yield LimitUse(limit=name, used=used, allowed=limit)


def _asked(worst: Spend, name: LimitName) -> float:
    if name == "max_seconds":
        return worst.seconds
    asked = _Amounts()
    asked.add(worst, 1)
    return asked.of(name)


class _Amounts:
    """Running sums of what is spent or set aside."""

    __slots__ = ("calls", "cost", "tokens")

    def __init__(self):
        self.calls = 0
        self.tokens = 0
        self.cost = 0.0

    def add(self, spend: Spend, sign: Literal[1, -1]) -> None:
        self.calls += sign * spend.calls
        self.tokens += sign * (spend.prompt_tokens + spend.completion_tokens)
        self.cost += sign * (spend.cost or 0.0)

    def of(self, name: LimitName) -> float:
        if name == "max_cost":
            return self.cost
        return self.tokens if name == "max_tokens" else self.calls


class _Account:
    """What the calls of one model in one step have taken."""

    __slots__ = (
        "cached_tokens",
        "calls",
        "completion_tokens",
        "cost",
        "estimated_calls",
        "prompt_tokens",
        "seconds",
        "unpriced_calls",
    )

    def __init__(self):
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.cached_tokens = 0
        self.cost = 0.0
        self.seconds = 0.0
        self.unpriced_calls = 0
        self.estimated_calls = 0

    def add(self, spend: Spend) -> None:
        self.calls += spend.calls
        self.prompt_tokens += spend.prompt_tokens
        self.completion_tokens += spend.completion_tokens
        self.cached_tokens += spend.cached_tokens
        self.cost += spend.cost or 0.0
        self.seconds += spend.seconds
        if spend.cost is None:
            self.unpriced_calls += spend.calls
        if spend.estimated:
            self.estimated_calls += spend.calls

    def line(self, step: str, model: str) -> BillLine:
        return BillLine(
            step=step,
            model=model,
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cached_tokens=self.cached_tokens,
            cost=self.cost,
            seconds=self.seconds,
            unpriced_calls=self.unpriced_calls,
            estimated_calls=self.estimated_calls,
        )


def price_unknown(max_cost: float) -> ConfigError:
    """Return the error of a limit of money that cannot be kept."""
    return ConfigError(
        f"Spending is limited to {money(max_cost)}, and the price of this model is not known: "
        "no call was made. Set its price in US dollars per million tokens with "
        "PLANLOOM_PRICE_INPUT and PLANLOOM_PRICE_OUTPUT (price_input and price_output in "
        "planloom.toml), or limit tokens instead, with max_tokens "
        "(--max-tokens).",
        zh=f"已限定费用不超过 {money(max_cost)}，但该模型的单价未知，因此未发起调用。请用 "
        "PLANLOOM_PRICE_INPUT 和 PLANLOOM_PRICE_OUTPUT（planloom.toml 中为 price_input 和 "
        "price_output）设置每百万 token 的美元单价，"
        "或改用 max_tokens（--max-tokens）限制 token 数。",
    )


def _exhausted(
    use: LimitUse, *, wanted: float, left: float, whole_run: bool
) -> BudgetExhaustedError:
    """Say which limit stands in the way, what was asked and left, and what to do."""
    if use.limit == "max_seconds" and left <= 0:
        en = f"The time limit of {use.allowed:,.1f} s is used up: no further call was made."
        zh = f"已达到 {use.allowed:,.1f} 秒的时间上限，因此不再发起调用。"
    else:
        en, zh = _shortage(use, wanted, left)
    option = _OPTIONS[use.limit]
    if whole_run:
        en, zh = f"{en} To go on, raise {option}.", f"{zh}如需继续，请调高 {option}。"
    else:
        en = f"{en} This limit is that of a part of the run; give it a larger share."
        zh = f"{zh}这是本次运行中某一部分的上限，请为它分配更多额度。"
    return BudgetExhaustedError(en, zh=zh, limit=use.limit)


def _shortage(use: LimitUse, wanted: float, left: float) -> tuple[str, str]:
    """Compare what a call may take with what is left, in English and Chinese."""
    if use.limit == "max_cost":
        asked_en = asked_zh = money(wanted)
        left_en = f"{money(left)} of {money(use.allowed)} is left"
        left_zh = f"上限 {money(use.allowed)} 中只剩 {money(left)}"
    else:
        one, many, unit_zh, short_zh = _UNITS[use.limit]
        decimals = 1 if use.limit == "max_seconds" else 0
        asked, rest, allowed = (f"{x:,.{decimals}f}" for x in (wanted, left, use.allowed))
        asked_en, asked_zh = (
            f"{asked} {one if wanted == 1 else many}",
            f"{asked} {unit_zh}".rstrip(),
        )
        left_en = f"{rest} of {allowed} {many} are left"
        left_zh = f"上限 {allowed} {unit_zh}中只剩 {rest} {short_zh}"
    return (
        f"The next call may take up to {asked_en}, and {left_en}: it was not made.",
        f"下一次调用最多需要 {asked_zh}，而{left_zh}，因此未发起调用。",
    )


_OPTIONS: dict[LimitName, str] = {
    "max_cost": "max_cost (--max-cost)",
    "max_tokens": "max_tokens (--max-tokens)",
    "max_calls": "max_calls (--max-calls)",
    "max_seconds": "max_time_s (--max-time)",
}
_UNITS: dict[LimitName, tuple[str, str, str, str]] = {
    "max_tokens": ("token", "tokens", "个 token ", "个"),
    "max_calls": ("call", "calls", "次", "次"),
    "max_seconds": ("s", "s", "秒", "秒"),
}
"""One, many, in Chinese, in Chinese for short."""
