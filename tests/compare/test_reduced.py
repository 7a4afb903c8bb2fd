"""The floor of a reduced precision is what that precision costs eager, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.compare.floor import UNIT_ROUNDOFF
from parity.compare.reduced import reduced_yardsticks, wider_outputs
from tests.compare.cases import Case, case, store

EXACT = np.linspace(0.5, 1.0, 40).reshape(8, 5)


@pytest.fixture
def made(tmp_path: Path) -> Case:
    return case(tmp_path, [EXACT.astype(np.float32)], [EXACT])


def test_its_floors_are_the_errors_of_eager_in_that_precision(made: Case) -> None:
    halved = EXACT.astype(np.float16)
    halved[3, 2] += np.float16(0.01)
    reduced = store(made.folder, {"h0": {"y": halved}})
    yardsticks, why = reduced_yardsticks(made.yardsticks, reduced, made.arrays, made.calls, "float16")
    assert why is None
    assert yardsticks["y"].floors == pytest.approx([0.01 / np.sqrt(5) / 0.75, 0.0145, 0.0059, 0.01], rel=0.2)
    assert yardsticks["y"].unit == UNIT_ROUNDOFF["float16"]
    assert yardsticks["y"].good_to is None, "half of the digits of float16 are few"


def test_they_never_lie_below_one_rounding_in_that_precision(made: Case) -> None:
    reduced = store(made.folder, {"h0": {"y": EXACT.astype(np.float32)}})
    yardsticks, _ = reduced_yardsticks(made.yardsticks, reduced, made.arrays, made.calls, "bfloat16")
    assert min(yardsticks["y"].floors) == UNIT_ROUNDOFF["bfloat16"]


def test_what_overflows_in_that_precision_has_no_floor(made: Case) -> None:
    halved = EXACT.astype(np.float16)
    halved[0, 0] = np.inf
    reduced = store(made.folder, {"h0": {"y": halved}})
    _, why = reduced_yardsticks(made.yardsticks, reduced, made.arrays, made.calls, "float16")
    assert why == "eager in float16 overflows in 'y'"


def test_another_shape_in_that_precision_has_no_floor(made: Case) -> None:
    reduced = store(made.folder, {"h0": {"y": EXACT[:, :3].astype(np.float16)}})
    _, why = reduced_yardsticks(made.yardsticks, reduced, made.arrays, made.calls, "float16")
    assert why == "eager in float16 returns another 'y' than in float32"


def test_a_model_that_has_the_precision_itself_needs_no_other_floor(tmp_path: Path) -> None:
    own = case(tmp_path, [EXACT.astype(np.float16)], [EXACT])
    assert wider_outputs(own.yardsticks, "float16") == ()
    assert wider_outputs(own.yardsticks, "bfloat16") == ("y",)
