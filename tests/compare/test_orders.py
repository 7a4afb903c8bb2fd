"""Orders without a defined answer are ties; every other difference of integers and booleans is a mismatch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.floor import ReferenceArrays, measure_floor
from parity.compare.kinds import decided
from parity.compare.numeric import compare_held_out
from parity.compare.orders import ValueOutput, compare_orders
from parity.records import NumericFinding, OutputFacts, ReferenceFacts
from parity.samples.calls import Call
from tests.compare.cases import Case, case, store, wide

VALUES = np.asarray([[9.0, 7, 7, 7, 5, 3], [8, 6, 4, 4, 2, 2]], np.float32)
INDICES = np.asarray([[3, 0, 4, 8, 1, 6], [5, 2, 0, 9, 7, 1]])


def counted(
    theirs: Array, ours: Array = INDICES, values: Array = VALUES, *, variants: Sequence[Array] = (), slack: float = 1e-5
) -> tuple[int, int]:
    """Mismatches and ties where the target has the reference's values."""
    found = compare_orders(theirs, ours, variants, [ValueOutput(values, values, slack, 1)])
    return int(found.mismatched.sum()), int(found.tied.sum())


def test_indices_within_a_run_of_equal_values_may_be_in_any_order() -> None:
    theirs = INDICES.copy()
    theirs[0, 1:4] = [8, 0, 4]
    theirs[1, 2:4] = [9, 0]
    assert counted(theirs) == (0, 5)


def test_an_index_that_is_not_of_the_run_is_a_mismatch() -> None:
    theirs = INDICES.copy()
    theirs[0, 1:4] = [0, 4, 7]
    theirs[1, 0] = 6
    assert counted(theirs) == (2, 0)


def test_the_last_run_may_be_cut_off_and_hold_others() -> None:
    theirs = INDICES.copy()
    theirs[1, 4:] = [7, 8]
    assert counted(theirs) == (0, 1)


def test_an_index_that_occurs_twice_in_a_line_is_never_a_tie() -> None:
    theirs = INDICES.copy()
    theirs[1, 4:] = [7, 7]
    assert counted(theirs) == (1, 0)


def test_a_last_run_of_one_is_cut_off_only_where_nothing_could_have_shown_it() -> None:
    theirs = INDICES.copy()
    theirs[0, 5] = 9
    apart = VALUES - np.arange(6, dtype=np.float32) * 0.01
    assert counted(theirs, values=apart) == (0, 1)
    assert counted(theirs, values=apart, variants=[INDICES]) == (1, 0)
    cut = INDICES.copy()
    cut[0, 5] = 2
    assert counted(theirs, values=apart, variants=[cut]) == (0, 1)
    assert counted(theirs, values=VALUES, variants=[INDICES]) == (0, 1), "equal values stand side by side"


def test_a_top_k_that_is_cut_within_zeros_may_hold_any_of_them() -> None:
    values = np.asarray([[5.0, 3, 0], [4, 2, 0], [6, 1, 0]])
    ours = np.asarray([[4, 7, 1], [3, 0, 5], [2, 8, 0]])
    theirs = ours.copy()
    theirs[0, 2] = 9
    assert counted(theirs, ours, values, variants=[ours]) == (0, 1)
    theirs[2, 1] = 9
    assert counted(theirs, ours, values, variants=[ours]) == (1, 1)


def test_values_that_differ_make_no_tie_of_their_indices() -> None:
    theirs = INDICES.copy()
    theirs[0, 1:4] = [8, 0, 4]
    moved = VALUES.copy()
    moved[0, 1] += 1
    found = compare_orders(theirs, INDICES, (), [ValueOutput(VALUES, moved, 1e-5, 1)])
    assert (int(found.mismatched.sum()), int(found.tied.sum())) == (1, 2)


def test_values_in_rising_order_and_along_another_axis_are_an_order_too() -> None:
    theirs = INDICES.copy()
    theirs[0, 1:4] = [8, 0, 4]
    rising = [array[:, ::-1] for array in (theirs, INDICES, VALUES)]
    assert counted(*rising) == (0, 3)
    other = [array.T.reshape(1, 6, 2) for array in (theirs, INDICES, VALUES)]
    assert counted(*other) == (0, 3)


def test_places_that_rounding_moves_in_the_reference_have_no_answer() -> None:
    ours, jittered = np.asarray([2, 0, 1, 5]), np.asarray([2, 1, 0, 5])
    swapped = compare_orders(np.asarray([2, 1, 0, 5]), ours, [jittered])
    assert (int(swapped.mismatched.sum()), int(swapped.tied.sum())) == (0, 2)
    wrong = compare_orders(np.asarray([5, 0, 1, 2]), ours, [jittered])
    assert int(wrong.mismatched.sum()) == 2
    outside = compare_orders(np.asarray([2, 77, 1, 5]), ours, [jittered])
    assert int(outside.mismatched.sum()) == 1


def test_a_score_at_its_threshold_may_fall_on_either_side() -> None:
    ours, jittered = np.asarray([True, False, True]), np.asarray([True, True, True])
    tied = compare_orders(np.asarray([True, True, True]), ours, [jittered])
    wrong = compare_orders(np.asarray([False, False, True]), ours, [jittered])
    assert (int(tied.mismatched.sum()), int(tied.tied.sum())) == (0, 1)
    assert (int(wrong.mismatched.sum()), int(wrong.tied.sum())) == (1, 0)


def test_a_maximum_over_zeros_was_chosen_among_equals() -> None:
    values = np.asarray([[[0.0, 3], [0, 2]], [[1, 0], [4, 0]]], np.float32)
    ours = np.asarray([[[0, 2], [8, 10]], [[1, 3], [9, 11]]])
    theirs = np.where(values == 0, ours + 1, ours)
    assert counted(theirs, ours, values) == (0, 4)
    assert counted(ours + (values == 3), ours, values) == (1, 0)


def test_a_probability_of_one_says_nothing_of_its_class() -> None:
    values = np.asarray([1.0, 1.0, 0.7, 1.0], np.float32)
    ours = np.asarray([3, 1, 2, 0])
    found = compare_orders(np.asarray([4, 1, 2, 0]), ours, (), [ValueOutput(values, values, 1e-6, 1)])
    assert int(found.mismatched.sum()) == 1


def ordered(folder: Path, values: Array, indices: Array) -> Case:
    """A reference that returns `values` and `indices`."""
    outputs = {"values": values, "indices": indices}
    calls = (Call("h0", tuple(range(len(values)))),)
    facts = ReferenceFacts(
        oracle="float64",
        outputs=tuple(
            OutputFacts(name=name, dtype=each.dtype.name, shape=each.shape, batched=True)
            for name, each in outputs.items()
        ),
        longest_reduction=1,
        jittered_copies=0,
        seconds=0.0,
        threads=1,
    )
    stored = store(folder, {"h0": outputs})
    exact = store(folder, {"h0": {name: wide(each) for name, each in outputs.items()}})
    facts = decided(facts, stored, calls)
    arrays = ReferenceArrays(stored, exact)
    return Case(folder, calls, facts, arrays, measure_floor(facts, arrays, calls))


def indices_found(made: Case, values: Array, indices: Array) -> NumericFinding:
    target = store(made.folder, {"h0": {"values": values, "indices": indices}})
    findings = compare_held_out(target, made.arrays, made.yardsticks, made.calls)
    return next(each for each in findings if each.output == "indices")


def test_an_index_output_is_read_with_the_values_beside_it(tmp_path: Path) -> None:
    made = ordered(tmp_path, VALUES, INDICES)
    theirs = INDICES.copy()
    theirs[0, 1:4] = [8, 0, 4]
    tied = indices_found(made, VALUES, theirs)
    assert (tied.rule, tied.mismatched, tied.ties, tied.max_abs, tied.worst_sample) == ("exact", 0, 3, 0.0, 0)
    theirs[1, 0] = 6
    wrong = indices_found(made, VALUES, theirs)
    assert (wrong.mismatched, wrong.ties, wrong.max_abs, wrong.worst_sample) == (1, 3, 1.0, 1)


@pytest.mark.parametrize(("changed", "expected"), [([1, 0], (0, 2)), ([0, 2], (1, 0))])
def test_an_index_output_alone_is_read_with_its_jittered_copies(
    tmp_path: Path, changed: list[int], expected: tuple[int, int]
) -> None:
    ours, jittered = np.asarray([[0, 1, 2, 3]]), np.asarray([[1, 0, 2, 3]])
    made = case(tmp_path, [ours], copies=[(jittered, ours)])
    theirs = ours.copy()
    theirs[0, changed] = theirs[0, changed[::-1]] if expected[0] == 0 else [0, 3]
    found = made.finding(theirs)
    assert (found.mismatched, found.ties or 0) == expected


def test_where_rounding_decides_most_places_that_is_said(tmp_path: Path) -> None:
    ours = np.asarray([[0, 1, 2, 3]])
    made = case(tmp_path, [ours], copies=[(ours[:, ::-1].copy(), ours)])
    found = made.finding(np.asarray([[1, 0, 2, 3]]))
    assert found.detail == "4 of 4 places have no defined answer: rounding decides them"
