import re
from pathlib import Path

from planloom.analysis import loading
from planloom.analysis.loading.reasons import reason_text


def test_every_reason_in_the_loading_room_has_chinese_words():
    folder = Path(next(iter(loading.__path__)))
    code = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    calls = re.findall(r'(?:set_aside|reject)\([^"\n]*"([^"]+)"', code)
    found = {*calls, *re.findall(r'append\(\(index, "([^"]+)"\)\)', code)}
    assert len(found) >= 7
    assert [reason for reason in found if reason_text(reason, "zh") == reason] == []
