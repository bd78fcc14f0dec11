import json

import pytest

from planloom.analysis.operations import (
    BlankMarkers,
    Convert,
    DropDuplicates,
    DropEmptyColumns,
    DropEmptyRows,
    DropMissing,
    DropTotalRows,
    DropWhere,
    FillMissing,
    Rename,
    TrimText,
    UnifySpelling,
    operations_from_json,
    operations_to_json,
)
from planloom.errors import ToolError

EVERY_KIND = (
    DropDuplicates(columns=("a",)),
    DropTotalRows(column="a", labels=("合计",), rows=(3, 9)),
    DropTotalRows(column="a", labels=("Total",)),
    DropEmptyRows(),
    DropEmptyColumns(),
    TrimText(),
    UnifySpelling(column="a", mapping={"x ": "x"}),
    BlankMarkers(column="a", markers=("N/A", -1, 9.5)),
    FillMissing(column="a", method="value", value=0),
    FillMissing(column="a", method="mean"),
    DropMissing(columns=("a", "b")),
    DropWhere(column="a", comparison="<=", value=2.5),
    Rename(column="a", to="b"),
    Convert(column="a", type="date"),
)


def test_every_operation_survives_json() -> None:
    text = json.dumps(operations_to_json(EVERY_KIND))
    assert operations_from_json(json.loads(text)) == EVERY_KIND


def test_a_bare_name_stands_for_an_operation_without_arguments() -> None:
    assert operations_from_json(["trim_text"]) == (TrimText(),)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"op": "drop_duplicate"}, "Did you mean 'drop_duplicates'"),
        ({"op": "fill_missing", "colum": "a", "method": "mean"}, "Did you mean 'column'"),
        ({"op": "fill_missing", "column": "a", "method": "guess"}, "method"),
        ({"op": "rename", "column": "a"}, "to"),
        ({"op": "drop_missing", "columns": "a"}, "columns"),
        ({"column": "a"}, "unknown op None"),
        ({"op": ["trim_text"]}, "unknown op"),
        (7, "write an object"),
    ],
)
def test_wrong_operations_are_refused_with_their_place(record: object, message: str) -> None:
    with pytest.raises(ToolError, match=r"operations\[1\]") as caught:
        operations_from_json(["trim_text", record])
    assert message in str(caught.value)
