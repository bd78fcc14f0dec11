"""Stand-ins for personal data: the same for the same value, told once, undone in answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from planloom.notes import Note
from planloom.planning.personal_cells import Cells
from planloom.planning.personal_mask import PersonalDataMask
from planloom.values import Column, TableRef

TABLE = TableRef(
    path="/none.parquet",
    columns=(Column(name="customer", type="text"), Column(name="city", type="text")),
    rows=2,
    name="t",
    sha256="1",
)


class FakeFinder:
    """Knows one table."""

    def samples(self, table: TableRef) -> Sequence[Cells]:
        return [Cells("customer", "text", ["Ann Lee", "王芳"]), Cells("city", "text", ["Oslo"])]

    def values(self, table: TableRef, columns: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {name: ["Ann Lee", "王芳", "May"] for name in columns}


def mask(
    *, sends: bool = False, said: str = "", on_notice: Callable[[Note], None] | None = None
) -> PersonalDataMask:
    made = PersonalDataMask(sends=sends, said=said, on_notice=on_notice, finder=FakeFinder())
    made.table(TABLE)
    return made


def test_the_same_value_has_the_same_stand_in_and_others_have_another():
    one = mask()
    assert one.cell("Ann Lee", "name") == one.cell(" Ann  Lee", "name") == "‹name 1›"
    assert one.cell("王芳", "name") == "‹name 2›"


def test_names_of_columns_are_recognised_in_texts_and_results():
    one = mask()
    assert one.text("Ann Lee beat 王芳 in May.") == "‹name 2› beat ‹name 1› in May."
    assert one.value([["May", 3], ["Oslo", 4]]) == [["‹name 3›", 3], ["Oslo", 4]]


def test_fields_of_records_are_judged_as_columns_are():
    record = {"email": "a@b.org", "phone": "0401 234567", "order_id": "15012345678", "n": 3}
    assert PersonalDataMask().value(record) == {
        "email": "‹mail 1›", "phone": "‹phone 1›", "order_id": "15012345678", "n": 3,
    }  # fmt: skip


def test_stand_ins_are_undone_also_where_the_model_changed_their_brackets():
    one = mask()
    one.text("Ann Lee, a@b.org")
    assert one.restored("‹name 1› <name 1> «mail 1» ‹name 9›") == "Ann Lee Ann Lee a@b.org ‹name 9›"
    assert one.restored_value({"to": ["‹mail 1›"]}) == {"to": ["a@b.org"]}


def test_what_the_user_said_is_no_secret_from_the_model():
    assert mask(said="How much did ann lee spend?").text("Ann Lee, 王芳") == "Ann Lee, ‹name 1›"


def test_columns_are_told_once_and_texts_once():
    told: list[Note] = []
    one = mask(on_notice=told.append)
    one.table(TABLE)
    one.text("a@b.org")
    one.text("c@d.org")
    assert [note.args.get("columns", "texts") for note in told] == ["customer", "texts"]


def test_sending_shows_everything_and_still_tells():
    told: list[Note] = []
    one = mask(sends=True, on_notice=told.append)
    assert one.cell("Ann Lee", "name") == "Ann Lee"
    assert one.text("a@b.org") == "a@b.org"
    assert len(told) == 1
    assert "are sent" in told[0].text("en")
