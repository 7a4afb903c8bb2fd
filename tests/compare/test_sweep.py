"""Each shape of the sweep has a finding of its own, held against what the reference does at that shape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from parity.arrays import Array
from parity.compare.sweep import by_output_alone, compare_sweep, left_out
from parity.records import Symptom
from parity.samples.calls import own_noise_id
from tests.compare.cases import Case, case, eager, exact, store, swept


def test_each_batch_size_has_a_finding_of_its_own(tmp_path: Path) -> None:
    made = swept(tmp_path)
    target = {f"s{size}": {"y": eager(made, f"s{size}")} for size in (1, 2, 3)}
    target["s2"]["y"][0, 0] += np.float32(1.0)
    del target["s3"]
    found = {each.batch: each for each in made.sweep(target, {"s3": "RuntimeError: shape"})}
    assert found[1].symptom is Symptom.OK
    assert found[1].ratio is not None
    assert found[1].ratio < 3
    assert found[2].ratio is not None
    assert found[2].ratio > 1000
    assert (found[3].symptom, found[3].detail) == (Symptom.EXCEPTION, "RuntimeError: shape")


def test_a_shape_that_was_baked_in_is_a_mismatch_at_that_batch_size(tmp_path: Path) -> None:
    made = swept(tmp_path)
    target = {f"s{size}": {"y": eager(made, f"s{size}")} for size in (1, 2)}
    target["s3"] = {"y": eager(made, "s3")[:2]}
    found = {each.batch: each for each in made.sweep(target)}
    assert found[3].symptom is Symptom.MISMATCH
    assert found[3].detail == "y shape: [2, 4], not [3, 4], for a call of 3"
    assert found[2].symptom is Symptom.OK


def test_integers_that_differ_at_one_batch_size_are_a_mismatch_there(tmp_path: Path) -> None:
    values = np.arange(8).reshape(8, 1)
    made = case(tmp_path, [values], sweep={2: (values[:2], values[:2]), 3: (values[:3], values[:3])})
    found = made.sweep({"s2": {"y": values[:2]}, "s3": {"y": values[:3] + 1}})
    assert [each.symptom for each in found] == [Symptom.OK, Symptom.MISMATCH]


def test_an_output_that_the_reference_returns_at_some_batch_sizes_only_is_compared_there(tmp_path: Path) -> None:
    made = swept(tmp_path)
    arrays = {f"h{0}": {"y": eager(made)}, **{f"s{n}": {"y": eager(made, f"s{n}")} for n in (1, 2, 3)}}
    ours = {name: dict(outputs) for name, outputs in arrays.items()}
    ours["s1"] = {"other": ours["s1"]["y"]}
    made.arrays.eager = store(tmp_path, ours)
    assert [each.symptom for each in made.sweep({**arrays, "s1": ours["s1"]})] == [Symptom.OK] * 3
    besides = made.sweep(arrays)
    assert [each.symptom for each in besides] == [Symptom.MISMATCH, Symptom.OK, Symptom.OK]
    assert (besides[0].output, besides[0].detail) == ("y", "y extra: the reference returns only other, for a call of 1")


def test_every_output_that_disagrees_at_a_batch_size_is_told(tmp_path: Path) -> None:
    made = swept(tmp_path)
    target = {"s1": {"y": eager(made, "s1")}, "s2": {"z": eager(made, "s2")}, "s3": {"y": eager(made, "s3")[:2]}}
    found = made.sweep(target)
    assert found[1].detail == "y missing: the target returned z; z extra: the reference returns only y"
    assert [each.output for each in found] == ["y", None, "y"]


def test_where_the_reference_returns_nothing_there_is_nothing_to_hold_a_target_against(tmp_path: Path) -> None:
    made = swept(tmp_path)
    made.arrays.eager = store(tmp_path, {f"s{n}": {"y": eager(made, f"s{n}")} for n in (1, 3)})
    answers = {f"s{n}": {"y": np.zeros((n, 4), np.float32)} for n in (1, 2, 3)}
    found = {each.batch: each for each in made.sweep(answers)}
    assert (found[2].symptom, found[2].detail) == (Symptom.UNSUPPORTED, "the model itself does not run there")
    assert found[1].ratio is not None


def scaled(array: Array, factor: float) -> Array:
    """The same in float32, times a number."""
    made: Array = np.multiply(array.astype(np.float64), factor).astype(np.float32)
    return made


def others(made: Case) -> dict[str, dict[str, Array]]:
    """What the reference returns at the other batch sizes."""
    return {f"s{n}": {"y": eager(made, f"s{n}")} for n in (1, 3)}


def sized(made: Case) -> Case:
    """The same, as if batch size 2 stood for a length as well."""
    calls = tuple(replace(call, sizes=(("T", 7),)) if call.sweep == 2 else call for call in made.calls)
    return replace(made, calls=calls)


def test_a_finding_has_the_sizes_of_its_call(tmp_path: Path) -> None:
    made = sized(swept(tmp_path))
    found = made.sweep({f"s{n}": {"y": eager(made, f"s{n}")} for n in (1, 2, 3)})
    assert [each.sizes for each in found] == [None, {"T": 7}, None]
    assert [each.shape for each in found] == ["1", "2, T=7", "3"]


def test_at_sizes_of_its_own_the_floor_is_what_the_reference_reaches_there(tmp_path: Path) -> None:
    """A longer sum rounds more, in eager too."""
    made = swept(tmp_path)
    right, off = {"y": eager(made, "s2")}, {"y": scaled(eager(made, "s2"), 1 + 1e-4)}
    before = made.sweep({"s2": off, **others(made)})[1]
    made.arrays.eager = store(tmp_path, {"h0": {"y": eager(made)}, "s2": off, **others(made)})
    there = sized(made).sweep({"s2": right, **others(made)})[1]
    assert before.ratio is not None
    assert before.ratio > 100
    assert there.ratio is not None
    assert there.ratio < 1


def test_more_draws_of_the_references_error_there_count_too(tmp_path: Path) -> None:
    made = sized(swept(tmp_path))
    (call,) = (call for call in made.calls if call.sizes)
    target = store(tmp_path, {"s2": {"y": scaled(exact(made, "s2"), 1 + 1e-5)}})
    draw = f"{own_noise_id(call)}~0"
    (alone,) = compare_sweep(target, made.arrays, made.yardsticks, [call], {})
    made.arrays.eager = store(
        tmp_path, {"s2": {"y": eager(made, "s2")}, draw: {"y": scaled(eager(made, "s2"), 1 + 1e-5)}}
    )
    made.arrays.oracle = store(tmp_path, {"s2": {"y": exact(made, "s2")}, draw: {"y": exact(made, "s2")}})
    (drawn,) = compare_sweep(target, made.arrays, made.yardsticks, [call], {})
    assert alone.ratio is not None
    assert alone.ratio > 10
    assert drawn.ratio is not None
    assert drawn.ratio < 3


def test_without_the_measures_of_the_sample_a_small_answer_is_held_to_the_outputs_scale(tmp_path: Path) -> None:
    values = np.ones((8, 4))
    small = np.full((2, 4), 1e-6)
    made = case(tmp_path, [values], [values], sweep={2: (small, small)})
    target = store(tmp_path, {"s2": {"y": small * 2}})
    calls = [call for call in made.calls if call.sweep]
    (relative,) = compare_sweep(target, made.arrays, made.yardsticks, calls, {})
    (by_output,) = compare_sweep(target, made.arrays, by_output_alone(made.yardsticks), calls, {})
    assert relative.error == 1.0
    assert by_output.error is not None
    assert by_output.error <= 1e-6


def test_a_batch_size_that_the_signature_rules_out_says_what_it_allows() -> None:
    (found,) = left_out([64], "N in 1..32")
    assert (found.batch, found.symptom, found.detail) == (64, Symptom.UNSUPPORTED, "the signature allows N in 1..32")
