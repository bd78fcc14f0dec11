import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.bill import Bill
from planloom.budget import Budget, Limits, LimitUse, Spend
from planloom.errors import BudgetExhaustedError, ConfigError


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def call(tokens: int = 0, cost: float | None = 0.0, *, seconds: float = 0.0) -> Spend:
    return Spend(calls=1, prompt_tokens=tokens, cost=cost, seconds=seconds)


def spend(budget: Budget, amount: Spend, *, step: str = "", model: str = "") -> None:
    budget.settle(budget.reserve(amount), amount, step=step, model=model)


@pytest.mark.parametrize(
    ("limits", "worst", "english", "chinese", "limit"),
    [
        (
            Limits(max_tokens=1_000),
            call(1_200),
            "may take up to 1,200 tokens, and 1,000 of 1,000 tokens are left",
            "最多需要 1,200 个 token，而上限 1,000 个 token 中只剩 1,000 个",
            "max_tokens",
        ),
        (
            Limits(max_cost=0.5),
            call(0, 0.75),
            "may take up to $0.75, and $0.50 of $0.50 is left",
            "最多需要 $0.75，而上限 $0.50 中只剩 $0.50",
            "max_cost",
        ),
        (
            Limits(max_calls=0),
            call(),
            "may take up to 1 call, and 0 of 0 calls are left",
            "最多需要 1 次，而上限 0 次中只剩 0 次",
            "max_calls",
        ),
        (
            Limits(max_seconds=5.0),
            call(seconds=8.0),
            "may take up to 8.0 s, and 5.0 of 5.0 s are left",
            "最多需要 8.0 秒，而上限 5.0 秒中只剩 5.0 秒",
            "max_seconds",
        ),
    ],
)
def test_refusal_says_what_was_asked_and_left_and_what_to_raise(
    limits: Limits, worst: Spend, english: str, chinese: str, limit: str
):
    budget = Budget(limits, clock=Clock())
    with pytest.raises(BudgetExhaustedError) as caught:
        budget.reserve(worst)
    options = {
        "max_tokens": "--max-tokens",
        "max_cost": "--max-cost",
        "max_calls": "--max-calls",
        "max_seconds": "--max-time",
    }
    assert english in str(caught.value)
    assert chinese in caught.value.text("zh")
    assert options[limit] in str(caught.value)
    assert options[limit] in caught.value.text("zh")
    assert caught.value.limit == limit


def test_what_is_set_aside_cannot_be_reserved_twice():
    budget = Budget(Limits(max_tokens=1_000))
    first = budget.reserve(call(700))
    assert budget.remaining().max_tokens == 300
    with pytest.raises(BudgetExhaustedError):
        budget.reserve(call(400))
    budget.settle(first, call(100))
    assert budget.remaining().max_tokens == 900
    budget.reserve(call(900))


def test_what_is_merely_set_aside_may_come_back():
    clock = Clock()
    run = Budget(Limits(max_tokens=1_000, max_calls=2, max_seconds=60), clock=clock)
    part = run.child(Limits(max_cost=1.0))
    reservation = part.reserve(call(900, 0.9))
    assert part.may_fit_later(call(900, 0.9))
    assert not part.may_fit_later(call(1_001))
    assert not part.may_fit_later(call(0, 1.1))
    part.settle(reservation, call(200, 0.05))
    assert part.may_fit_later(call(800, 0.95))
    assert not part.may_fit_later(call(801))
    second = part.reserve(call(800))
    assert not part.may_fit_later(call(1))  # no call of the two is left
    part.release(second)
    clock.now += 60
    assert not part.may_fit_later(call(1))


def test_released_reservation_leaves_no_trace():
    budget = Budget(Limits(max_tokens=1_000, max_calls=1))
    budget.release(budget.reserve(call(1_000)))
    assert budget.remaining() == Limits(max_tokens=1_000, max_calls=1)
    assert budget.bill().total.calls == 0


def test_overrun_is_recorded_and_stops_what_follows():
    budget = Budget(Limits(max_tokens=1_000))
    budget.settle(budget.reserve(call(500)), call(1_300))
    assert budget.bill().total.tokens == 1_300
    assert budget.remaining().max_tokens == 0
    with pytest.raises(BudgetExhaustedError, match="0 of 1,000"):
        budget.reserve(call(1))


def test_refused_reservation_sets_nothing_aside():
    run = Budget(Limits(max_calls=5))
    part = run.child(Limits(max_tokens=10))
    with pytest.raises(BudgetExhaustedError):
        part.reserve(call(11))
    assert run.remaining().max_calls == 5


def test_reservation_is_settled_once_and_where_it_was_made():
    run = Budget()
    reservation = run.reserve(call())
    with pytest.raises(ValueError, match="settled or released before"):
        run.child().settle(reservation, call())
    run.settle(reservation, call())
    with pytest.raises(ValueError, match="settled or released before"):
        run.release(reservation)
    assert run.bill().total.calls == 1


def test_child_draws_from_its_parent_too():
    run = Budget(Limits(max_tokens=1_000))
    first, second = run.child(Limits(max_tokens=800)), run.child(Limits(max_tokens=800))
    spend(first, call(700))
    assert second.remaining().max_tokens == 300
    with pytest.raises(BudgetExhaustedError, match="--max-tokens"):
        second.reserve(call(400))
    with pytest.raises(BudgetExhaustedError, match="larger share"):
        first.reserve(call(200))
    assert (first.bill().total.tokens, run.bill().total.tokens) == (700, 700)


def test_time_runs_from_the_start_and_only_once_for_calls_made_at_once():
    clock = Clock()
    budget = Budget(Limits(max_seconds=10.0), clock=clock)
    open_calls = [budget.reserve(call(seconds=6.0)) for _ in range(3)]
    clock.now += 6.0
    for reservation in open_calls:
        budget.settle(reservation, call(seconds=6.0))
    assert budget.remaining().max_seconds == 4.0
    clock.now += 4.0
    with pytest.raises(BudgetExhaustedError, match=r"time limit of 10\.0 s is used up"):
        budget.reserve(call())
    assert budget.bill().seconds == 10.0
    assert budget.bill().total.seconds == 18.0


def test_unknown_price_is_refused_only_where_money_is_limited():
    with pytest.raises(ConfigError, match="PLANLOOM_PRICE_INPUT") as caught:
        Budget(Limits(max_cost=1.0)).child().reserve(call(10, None))
    assert "price_output" in caught.value.text("zh")
    spend(Budget(Limits(max_tokens=100)), call(10, None))


def test_limit_that_is_nearly_used_is_told_once():
    clock = Clock()
    run = Budget(Limits(max_tokens=100, max_seconds=10.0), clock=clock)
    part = run.child()
    spend(part, call(79))
    assert part.new_warnings() == ()
    spend(part, call(1))
    assert part.new_warnings() == (LimitUse(limit="max_tokens", used=80, allowed=100),)
    clock.now += 8.0
    assert [use.limit for use in part.new_warnings()] == ["max_seconds"]
    assert part.new_warnings() == run.new_warnings() == ()


def test_threads_never_go_over_the_limit_together():
    budget = Budget(Limits(max_tokens=1_000))
    start = threading.Barrier(8)

    def work(_: int) -> int:
        start.wait()
        part, granted = budget.child(), 0
        for _ in range(100):
            try:
                spend(part, call(7))
            except BudgetExhaustedError:
                continue
            granted += 7
        return granted

    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(work, range(8)))
    assert granted == budget.bill().total.tokens == 994


@given(st.lists(st.tuples(st.floats(0, 0.3), st.floats(0, 1)), max_size=40))
def test_calls_within_their_reservations_never_exceed_the_limit(calls: list[tuple[float, float]]):
    budget = Budget(Limits(max_cost=1.0))
    for worst, share in calls:
        try:
            reservation = budget.reserve(call(0, worst))
        except BudgetExhaustedError:
            continue
        budget.settle(reservation, call(0, worst * share))
    assert budget.bill().total.cost <= 1.0 + 1e-6
    left = budget.remaining().max_cost
    assert left is not None
    assert left + budget.bill().total.cost == pytest.approx(1.0)


def filled() -> Bill:
    clock = Clock()
    budget = Budget(clock=clock)
    plan = Spend(
        calls=1, prompt_tokens=1_200, completion_tokens=300, cached_tokens=1_000, cost=0.0123,
        seconds=2.5,
    )  # fmt: skip
    spend(budget, plan, step="plan", model="large")
    spend(budget, call(400, 0.5, seconds=1.0), step="count", model="small")
    spend(budget, call(100, None, seconds=1.0), step="count", model="other")
    clock.now += 3.0
    return budget.bill()


def test_bill_sums_by_step_and_by_model():
    bill = filled()
    assert [(line.step, line.calls, line.tokens) for line in bill.by_step()] == [
        ("plan", 1, 1_500),
        ("count", 2, 500),
    ]
    assert [line.model for line in bill.by_model()] == ["large", "small", "other"]
    total = bill.total
    assert (total.calls, total.unpriced_calls, total.seconds) == (3, 1, 4.5)
    assert total.cost == pytest.approx(0.5123)


def test_bill_for_people():
    assert filled().text("en").splitlines() == [
        "Model use: 3 calls, 2,000 tokens (1,700 in, 1,000 of them cached; 300 out), $0.51, 4.5 s",
        "  plan: 1 call, 1,500 tokens (1,200 in, 1,000 of them cached; 300 out), $0.0123, 2.5 s",
        "  count: 2 calls, 500 tokens (500 in; 0 out), $0.50, 2.0 s",
        "  The price of 1 call is not known; set price_input and price_output to count it.",
    ]
    assert filled().text("zh").splitlines() == [
        "模型用量：3 次调用，2,000 个 token（输入 1,700，其中缓存 1,000；输出 300），$0.51，4.5 秒",
        "  plan：1 次调用，1,500 个 token（输入 1,200，其中缓存 1,000；输出 300），$0.0123，2.5 秒",
        "  count：2 次调用，500 个 token（输入 500；输出 0），$0.50，2.0 秒",
        "  其中 1 次调用的单价未知；设置 price_input 和 price_output 后即可计入费用。",
    ]


def test_bill_without_calls_says_so():
    assert Budget().bill().text("en") == "No model was called."
    assert Budget().bill().text("zh") == "未调用任何模型。"


def test_bill_says_what_is_estimated_or_has_no_price():
    budget = Budget()
    guess = Spend(calls=1, prompt_tokens=10, cost=None, estimated=True)
    spend(budget, guess)
    spend(budget, guess)
    text = budget.bill().text("en")
    assert "cost unknown" in text
    assert "The price of the calls is not known" in text
    assert "The tokens of 2 calls are estimated" in text
    assert "费用未知" in budget.bill().text("zh")


def test_bill_as_json():
    record = json.loads(json.dumps(filled().to_json()))
    assert record["total"]["cost"] == pytest.approx(0.5123)
    assert record["total"]["wall_seconds"] == 3.0
    assert record["total"]["unpriced_calls"] == 1
    assert [step["step"] for step in record["steps"]] == ["plan", "count"]
    assert {model["model"]: model["cost"] for model in record["models"]} == {
        "large": 0.0123,
        "small": 0.5,
        "other": None,
    }
