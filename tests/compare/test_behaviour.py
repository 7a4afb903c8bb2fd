"""Answers to the same input, and to a sample alone or in a batch, against each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from parity.arrays import Array
from parity.compare.behaviour import compare_batches, compare_repeats, mixed_outputs
from parity.records import BehaviourFinding
from parity.samples.calls import AGAIN, LAST
from tests.compare.cases import Case, case, eager, rounded, store

RNG = np.random.default_rng(3)
EXACT = RNG.standard_normal((8, 5))


def made(folder: Path) -> Case:
    """Eight held-out samples, of which the first is called alone and the first two together."""
    values = rounded(EXACT, "float32", RNG)
    sweep = {1: (values[:1], EXACT[:1]), 2: (values[:2], EXACT[:2])}
    return case(folder, [values], [EXACT], sweep=sweep)


def moved(values: Array, by: float, row: int = 3) -> Array:
    other: Array = values.copy()
    other[row, 2] += np.float32(by)
    return other


def repeats(one: Case, again: Array, last: Array) -> BehaviourFinding:
    target = {"h0": {"y": eager(one)}, f"h0{AGAIN}": {"y": again}, f"h0{LAST}": {"y": last}}
    (found,) = compare_repeats(store(one.folder, target), one.yardsticks, one.calls, {})
    return found


def test_the_same_answer_again_has_no_fault(tmp_path: Path) -> None:
    one = made(tmp_path)
    found = repeats(one, eager(one), eager(one))
    assert (found.kind, found.name, found.error, found.detail) == ("repeatability", "y", 0.0, None)


def test_another_answer_is_found_with_its_sample_and_with_when_it_came(tmp_path: Path) -> None:
    one = made(tmp_path)
    twice = repeats(one, moved(eager(one), 0.5), eager(one))
    assert (twice.worst_sample, (twice.ratio or 0) > 1e5) == (3, True)
    assert "twice in a row" in str(twice.detail)
    later = repeats(one, eager(one), moved(eager(one), 0.5, row=6))
    assert later.worst_sample == 6
    assert "after all other calls" in str(later.detail)


def test_another_shape_and_a_call_that_raises_are_found(tmp_path: Path) -> None:
    one = made(tmp_path)
    assert "float32[8, 5] and float32[4, 5]" in str(repeats(one, eager(one)[:4], eager(one)).detail)
    target = store(tmp_path, {"h0": {"y": eager(one)}})
    (raised,) = compare_repeats(target, one.yardsticks, one.calls, {f"h0{AGAIN}": "RuntimeError: closed"})
    assert "raises when it is given twice in a row: RuntimeError: closed" in str(raised.detail)


def test_nothing_is_said_of_a_first_call_that_failed(tmp_path: Path) -> None:
    one = made(tmp_path)
    assert compare_repeats(store(tmp_path, {}), one.yardsticks, one.calls, {"h0": "no"}) == ()


def test_integers_that_differ_again_are_counted(tmp_path: Path) -> None:
    values = np.arange(8).reshape(8, 1)
    one = case(tmp_path, [values])
    found = repeats(one, values + (np.arange(8)[:, None] > 5), values)
    assert (found.mismatched, found.worst_sample) == (2, 6)


def test_a_number_that_is_missing_once_is_found(tmp_path: Path) -> None:
    one = made(tmp_path)
    found = repeats(one, moved(eager(one), np.nan), eager(one))
    assert "NaN or infinite in one of the answers" in str(found.detail)


def batches(one: Case, alone: Array) -> BehaviourFinding:
    target = {"h0": {"y": eager(one)}, "s1": {"y": alone}, "s2": {"y": eager(one)[:2]}}
    (found,) = compare_batches(store(one.folder, target), one.arrays, one.yardsticks, one.calls)
    return found


def test_a_sample_alone_is_held_against_itself_in_a_batch(tmp_path: Path) -> None:
    one = made(tmp_path)
    assert batches(one, eager(one)[:1]).detail is None
    other = batches(one, moved(eager(one)[:1], 0.1, row=0))
    assert (other.ratio or 0) > 1e4
    assert (other.sqnr_db or 0) > 10
    assert "in a batch of 1 and of 8" in str(other.detail)


def test_a_reference_that_mixes_its_samples_is_named_and_one_that_rounds_otherwise_is_not(tmp_path: Path) -> None:
    one = made(tmp_path)
    assert mixed_outputs(one.arrays, one.yardsticks, one.calls, 20.0) == ()
    answers = {"h0": {"y": eager(one)}, "s1": {"y": moved(eager(one)[:1], 0.1, row=0)}}
    one.arrays.eager = store(tmp_path, answers)
    assert mixed_outputs(one.arrays, one.yardsticks, one.calls, 20.0) == ("y",)


def test_an_output_without_a_batch_has_nothing_to_compare(tmp_path: Path) -> None:
    one = case(tmp_path, [np.ones(3, np.float32)], batched=False)
    target = store(tmp_path, {"h0": {"y": np.ones(3, np.float32)}})
    assert compare_batches(target, one.arrays, one.yardsticks, one.calls) == ()
