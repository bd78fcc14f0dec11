import pytest

from planloom.durations import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("1.5s", 1.5), ("5m", 300), ("1h30m", 5400), (" 2H ", 7200)]
)
def test_durations(text: str, seconds: float):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "soon", "5 minutes", "-3", "1m2", "nan", "h"])
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(ValueError, match="no duration"):
        seconds_of(text)
