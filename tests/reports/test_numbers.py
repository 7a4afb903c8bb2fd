"""Numbers: three significant digits, the sign kept, and nothing that reads as what it is not."""

from __future__ import annotations

import math

import pytest

from parity.reports import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0.0, "0"),
        (1.0499, "1.05"),
        (-1.0499, "-1.05"),
        (139.4, "139"),
        (-1234.0, "-1230"),
        (99999.0, "100000"),
        (5.9e-7, "5.9e-07"),
        (0.00123, "0.00123"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert numbers.number(value) == text


def test_a_value_beyond_its_limit_never_reads_as_the_limit() -> None:
    assert numbers.against(1.05, 10.0) == "1.05 / 10"
    assert numbers.against(10.0, 10.0) == "10 / 10"
    assert numbers.against(10.004, 10.0) == "10.004 / 10"
    assert numbers.against(2.0, None) == "2"
    assert numbers.against(None, 10.0) == "n/a"


def test_a_share_that_is_not_one_never_reads_as_one() -> None:
    assert numbers.share(1.0) == "1"
    assert numbers.share(0.99991) == "0.9999"
    assert numbers.share(0.9849) == "0.985"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0, "0 B"),
        (512, "512 B"),
        (-2048, "-2.05 kB"),
        (999_999, "1 MB"),
        (46_827_531, "46.8 MB"),
        (3 * 10**12, "3 TB"),
    ],
)
def test_size(value: int | None, text: str) -> None:
    assert numbers.size(value) == text


def test_units_and_intervals() -> None:
    assert numbers.milliseconds(139.04) == "139 ms"
    assert numbers.milliseconds(None) == "n/a"
    assert numbers.seconds(3.14159) == "3.14 s"
    assert numbers.interval(0.7, 0.74) == "0.7..0.74"
    assert numbers.interval(None, 0.74) == "n/a"
    assert numbers.bounds(129.04, 133.0) == "129..133"
    assert numbers.bounds(None, 133.0) == ""
    assert numbers.percent(0.3104) == "31 %"
    assert numbers.percent(None) == "n/a"
    assert numbers.count(1, "target") == "1 target"
    assert numbers.count(2, "target") == "2 targets"
