"""What a run has taken of language models: its bill, by step and model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from planloom.notes import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    """What the calls of one step, of one model, or of all, have taken."""

    step: str = ""
    """"" for calls outside any step, and in lines that sum several."""
    model: str = ""
    """"" in lines that sum several."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    """US dollars, of the calls whose price is known."""
    seconds: float = 0.0
    """Time in calls; calls made at once each count."""
    unpriced_calls: int = 0
    """Calls whose price is not known: the cost is without them."""
    estimated_calls: int = 0
    """Calls whose tokens were estimated."""

    @property
    def tokens(self) -> int:
        """Tokens of prompts and completions together."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, other: BillLine) -> BillLine:
        """Return the line with the amounts of another added."""
        return replace(
            self, **{name: getattr(self, name) + getattr(other, name) for name in _AMOUNTS}
        )


_AMOUNTS = [item.name for item in fields(BillLine) if item.name not in {"step", "model"}]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a run has taken, by step and model."""

    lines: tuple[BillLine, ...] = ()
    """One for each pair of step and model, in the order of their first calls."""
    seconds: float = 0.0
    """Wall time so far."""

    @property
    def total(self) -> BillLine:
        """All lines summed."""
        return _sum(BillLine(), self.lines)

    def by_step(self) -> tuple[BillLine, ...]:
        """Return the lines summed over models."""
        steps = dict.fromkeys(line.step for line in self.lines)
        return tuple(
            _sum(BillLine(step=step), (line for line in self.lines if line.step == step))
            for step in steps
        )

    def by_model(self) -> tuple[BillLine, ...]:
        """Return the lines summed over steps."""
        models = dict.fromkeys(line.model for line in self.lines)
        return tuple(
            _sum(BillLine(model=model), (line for line in self.lines if line.model == model))
            for model in models
        )

    def to_json(self) -> dict[str, object]:
        """Return the bill as JSON-safe values; a cost is null where no call has a price."""
        return {
            "total": _line_json(self.total) | {"wall_seconds": round(self.seconds, 3)},
            "steps": [{"step": line.step} | _line_json(line) for line in self.by_step()],
            "models": [{"model": line.model} | _line_json(line) for line in self.by_model()],
        }

    def text(self, lang: Lang) -> str:
        """Return the bill for people: a line with the total, then one for each step."""
        total = self.total
        if not total.calls:
            return "No model was called." if lang == "en" else "未调用任何模型。"
        amounts = _line_text(total, lang)
        lines = [f"Model use: {amounts}" if lang == "en" else f"模型用量：{amounts}"]
        steps = self.by_step()
        if len(steps) > 1:
            outside = "(outside the steps)" if lang == "en" else "（步骤之外）"
            colon = ": " if lang == "en" else "："
            lines += [f"  {line.step or outside}{colon}{_line_text(line, lang)}" for line in steps]
        return "\n".join(lines + _caveats(total, lang))


def money(amount: float) -> str:
    """Show US dollars with as many decimals as a small amount needs."""
    if amount == 0 or amount >= 0.1:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "under $0.0001"


def _sum(start: BillLine, lines: Iterable[BillLine]) -> BillLine:
    for line in lines:
        start = start.plus(line)
    return start


def _line_json(line: BillLine) -> dict[str, object]:
    priced = line.calls > line.unpriced_calls or not line.calls
    return {
        "calls": line.calls,
        "prompt_tokens": line.prompt_tokens,
        "completion_tokens": line.completion_tokens,
        "cached_tokens": line.cached_tokens,
        "cost": round(line.cost, 9) if priced else None,
        "unpriced_calls": line.unpriced_calls,
        "estimated_calls": line.estimated_calls,
        "seconds": round(line.seconds, 3),
    }


def _line_text(line: BillLine, lang: Lang) -> str:
    all_unpriced = line.calls == line.unpriced_calls
    if lang == "zh":
        cached = f"，其中缓存 {line.cached_tokens:,}" if line.cached_tokens else ""
        cost = "费用未知" if all_unpriced else money(line.cost)
        return (
            f"{line.calls:,} 次调用，{line.tokens:,} 个 token（输入 {line.prompt_tokens:,}{cached}"
            f"；输出 {line.completion_tokens:,}），{cost}，{line.seconds:.1f} 秒"
        )
    cached = f", {line.cached_tokens:,} of them cached" if line.cached_tokens else ""
    cost = "cost unknown" if all_unpriced else money(line.cost)
    return (
        f"{_calls(line.calls)}, {line.tokens:,} tokens "
        f"({line.prompt_tokens:,} in{cached}; {line.completion_tokens:,} out), {cost}, "
        f"{line.seconds:.1f} s"
    )


def _caveats(total: BillLine, lang: Lang) -> list[str]:
    unpriced, estimated = total.unpriced_calls, total.estimated_calls
    found: list[str] = []
    if unpriced and lang == "en":
        which = "the calls" if unpriced == total.calls else _calls(unpriced)
        found.append(
            f"  The price of {which} is not known; set price_input and price_output to count it."
        )
    elif unpriced:
        which = "" if unpriced == total.calls else f"其中 {unpriced:,} 次"
        found.append(f"  {which}调用的单价未知；设置 price_input 和 price_output 后即可计入费用。")
    if estimated and lang == "en":
        found.append(
            f"  The tokens of {_calls(estimated)} are estimated: the provider did not tell them."
        )
    elif estimated:
        which = "" if estimated == total.calls else f"其中 {estimated:,} 次"
        found.append(f"  {which}调用的 token 数为估算值（服务方未返回用量）。")
    return found


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count:,} calls"
