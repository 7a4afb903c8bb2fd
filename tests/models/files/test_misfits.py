from __future__ import annotations

import re

import pytest

from parity.errors import UsageError
from parity.models.files.misfits import ROWS, advice, counted, left_out, misfits, table

MODULE = {"conv.weight": "[8, 3]", "conv.bias": "[8]", "fc.weight": "[10, 8]", "fc.bias": "[10]"}


def test_what_fits_is_no_misfit() -> None:
    assert not misfits(MODULE, dict(MODULE))


def test_the_nearest_name_of_the_same_shape_stands_beside_a_missing_one() -> None:
    file = {**MODULE, "fc2.weight": "[9, 9]", "fcx.weight": "[10, 8]"}
    del file["fc.weight"]
    assert table(misfits(MODULE, file)).splitlines() == [
        "in the module      in the file",
        "fc.weight [10, 8]  fcx.weight [10, 8]  missing",
        "                   fc2.weight [9, 9]   unexpected",
    ]


def test_a_wrong_shape_shows_both() -> None:
    found = misfits(MODULE, {**MODULE, "fc.bias": "[9]"})
    assert re.split(" {2,}", table(found).splitlines()[1]) == ["fc.bias [10]", "fc.bias [9]", "another shape"]
    assert counted(found) == "1 of another shape"


def test_a_name_like_no_other_stands_alone() -> None:
    rows = table(misfits({"a": "[1]"}, {"zzzzzz": "[1]"})).splitlines()[1:]
    assert [row.split() for row in rows] == [["a", "[1]", "missing"], ["zzzzzz", "[1]", "unexpected"]]


def test_a_long_table_ends_with_how_many_more_there_are() -> None:
    module = {f"layer{number}.weight": "[1]" for number in range(ROWS + 5)}
    lines = table(misfits(module, {})).splitlines()
    assert len(lines) == ROWS + 2
    assert lines[-1] == "and 5 more"


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ({**MODULE, "fc.weight": "[5, 8]", "fc.bias": "[5]"}, "another number of classes"),
        ({key: MODULE[key] for key in ("conv.weight", "conv.bias")}, "--allow-missing 'fc.*'"),
        ({key: MODULE[key] for key in MODULE if key != "fc.bias"}, "--allow-missing 'fc.bias'"),
        ({"stem.weight": "[1]"}, "another architecture"),
        ({**MODULE, "extra": "[1]"}, "check --arch and its arguments; to leave them out: --allow-missing 'extra'"),
        ({**MODULE, "aux.a": "[1]", "aux.b": "[1]"}, "--allow-missing 'aux.*'"),
        ({**MODULE, "extra": "[1]", "fc.bias": "[9]"}, "nothing is loaded in part"),
    ],
    ids=["classes", "a layer", "a key", "nothing in common", "unexpected", "unexpected part", "both"],
)
def test_the_advice_follows_from_what_does_not_fit(file: dict[str, str], says: str) -> None:
    assert says in advice(misfits(MODULE, file))


def test_weights_of_an_inner_module_are_told() -> None:
    module = {f"net.{key}": shape for key, shape in MODULE.items()}
    assert "under 'net.'" in advice(misfits(module, MODULE))


def test_patterns_allow_what_is_missing_unexpected_or_of_another_shape() -> None:
    file = {**MODULE, "fc.weight": "[5, 8]", "aux.weight": "[1]"}
    del file["fc.bias"]
    found = misfits(MODULE, file)
    assert set(left_out(found, ("fc.*", "aux.*"))) == {"fc.weight", "fc.bias", "aux.weight"}
    assert set(left_out(found, ("fc.*",))) == {"fc.weight", "fc.bias"}
    assert left_out(found, ()) == ()


@pytest.mark.parametrize(
    ("pattern", "got"), [("head.*", "no key of that name"), ("conv.*", "2 keys that are all in the file and fit")]
)
def test_a_pattern_that_allows_nothing_is_an_error(pattern: str, got: str) -> None:
    found = misfits(MODULE, {key: MODULE[key] for key in ("conv.weight", "conv.bias")})
    with pytest.raises(UsageError) as caught:
        left_out(found, ("fc.*", pattern))
    assert pattern in caught.value.what
    assert caught.value.got == got
