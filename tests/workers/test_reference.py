"""What the reference stage measures is what every verdict stands on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from parity.arrays import ArrayReader
from parity.compare.floor import UNIT_ROUNDOFF, ReferenceArrays, measure_floor
from parity.errors import ModelError
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.records import ReferenceFacts
from parity.samples.calls import Call, own_noise_id
from parity.workers.draws import EXACT_COPIES, JITTERED_COPIES, copies_for
from parity.workers.load import load
from parity.workers.reference import ORACLE, REFERENCE, SIZED_COPIES, ReferenceTask, reference
from tests.workers import models
from tests.workers.models import spec


def run(
    folder: Path, model: type[nn.Module], samples: str | None = "held_out", inputs: str = "x: float32[N, 6]"
) -> tuple[ReferenceFacts, ReferenceArrays, tuple[Call, ...]]:
    made = spec(model, samples, inputs)
    loaded = load(made, folder / "samples", (1, 3))
    facts = reference(
        ReferenceTask(made, folder / "samples", loaded.calls, folder / "out", 1, loaded.model.weights_sha256)
    )
    arrays = ReferenceArrays(ArrayReader(folder / "out", REFERENCE), ArrayReader(folder / "out", ORACLE))
    return facts, arrays, loaded.calls


def test_the_oracle_is_the_same_module_in_float64(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.Plain)
    assert (facts.oracle, facts.oracle_reason, facts.unstable, facts.notes) == ("float64", None, None, ())
    for call in calls:
        eager, exact = arrays.eager.get(f"{call.id}/output"), arrays.oracle.get(f"{call.id}/output")
        assert (eager.dtype.name, exact.dtype.name) == ("float32", "float64")
        assert eager.shape == (len(call.samples), 300)
        assert np.allclose(eager, exact, rtol=1e-3, atol=1e-6)
        assert not np.array_equal(eager, exact)


def test_the_floor_of_a_plain_model_is_a_few_roundings(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.Plain)
    floors = measure_floor(facts, arrays, calls)["output"].floors
    assert all(UNIT_ROUNDOFF["float32"] <= floor < 50 * UNIT_ROUNDOFF["float32"] for floor in floors)
    assert facts.longest_reduction == 32


def test_enough_numbers_need_no_copies_and_few_are_drawn_again(tmp_path: Path) -> None:
    assert run(tmp_path / "many", models.Plain)[0].jittered_copies == 0
    facts, arrays, calls = run(tmp_path / "few", models.Scalar, "few")
    assert facts.jittered_copies == JITTERED_COPIES
    first = calls[0].id
    copies = [arrays.eager.get(f"{first}~{number}/output") for number in range(JITTERED_COPIES)]
    plain = arrays.eager.get(f"{first}/output")
    assert len({copy.tobytes() for copy in copies}) > JITTERED_COPIES // 2
    assert all(np.allclose(copy, plain, rtol=1e-3, atol=1e-5) for copy in copies)
    exact = [arrays.oracle.get(f"{first}~{number}/output") for number in range(JITTERED_COPIES)]
    assert len({each.tobytes() for each in exact}) == JITTERED_COPIES


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (models.Refuses, "TypeError: float32 is what this was written for"),
        (models.RefusesOnce, "in samples [8, 9, 10, 11]: RuntimeError: not these"),
        (models.RefusesOnceByValue, "in samples [8, 9, 10, 11]: ValueError: not these"),
        (models.OtherDigits, "the output 'output' stays float32 in a float64 module"),
        (models.Narrow, "the output 'output' stays float32 in a float64 module"),
        (models.NarrowComplex, "the output 'output' stays complex64 in a float64 module"),
    ],
)
def test_where_float64_cannot_run_reorderings_stand_in_and_the_report_says_why(
    tmp_path: Path, model: type[nn.Module], reason: str
) -> None:
    facts, arrays, calls = run(tmp_path, model)
    assert facts.oracle == "reordering"
    assert facts.oracle_reason is not None
    assert facts.oracle_reason.startswith(reason)
    yardstick = measure_floor(facts, arrays, calls)["output"]
    assert yardstick.rule == "reordering"
    assert max(yardstick.floors) < 1e-4
    assert all(f"{calls[0].id}~{number}/output" in arrays.eager for number in range(facts.jittered_copies))


def test_a_dtype_that_forward_names_is_overridden_and_the_report_says_so(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.HardCoded)
    assert (facts.oracle, facts.oracle_reason) == ("float64", None)
    assert facts.notes == ("forward names float32 itself, which the float64 oracle overrides",)
    assert max(measure_floor(facts, arrays, calls)["output"].floors) < 50 * UNIT_ROUNDOFF["float32"]


def test_complex_weights_and_plain_tensor_attributes_are_widened_too(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.Complex)
    assert (facts.oracle, facts.notes) == (
        "float64",
        ("forward names float32 itself, which the float64 oracle overrides",),
    )
    assert arrays.oracle.get(f"{calls[0].id}/output").dtype.name == "complex128"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (models.Random, "a random layer"),
        (models.RandomElsewhere, "a random layer"),
        (models.Counting, "state kept between calls"),
        (models.WakesUp, "state kept between calls"),
    ],
)
def test_a_reference_that_differs_from_itself_is_said_to_and_why(
    tmp_path: Path, model: type[nn.Module], why: str
) -> None:
    facts, _, _ = run(tmp_path, model)
    assert facts.unstable is not None
    assert facts.unstable.startswith("two runs on the same input differ in 'output'")
    assert why in facts.unstable


def test_a_reference_that_depends_on_the_calls_before_is_found_by_a_fresh_one(tmp_path: Path) -> None:
    facts, _, _ = run(tmp_path, models.KeepsFirstShape)
    assert facts.unstable is not None
    assert facts.unstable.startswith("a first call and a later one differ in 'output'")


def test_a_model_that_reads_memory_and_not_values_is_noted(tmp_path: Path) -> None:
    facts, _, _ = run(tmp_path, models.ReadsStorage)
    assert facts.unstable is None
    (note,) = facts.notes
    assert note.startswith("forward reads its input's memory: in another layout outputs differ in 'output' by")
    assert run(tmp_path / "healthy", models.Views)[0].notes == (), "refusing a layout is no other answer"


def test_a_model_that_writes_to_its_input_is_noted_and_its_outputs_are_right(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.WritesInput)
    assert facts.notes == ("forward writes to its input 'x'",)
    assert facts.unstable is None
    eager, exact = (each.get(f"{calls[0].id}/output") for each in (arrays.eager, arrays.oracle))
    assert np.allclose(eager, exact, rtol=1e-3, atol=1e-6)


def test_every_output_is_described_and_only_those_with_a_batch_axis_are_batched(tmp_path: Path) -> None:
    facts, _, _ = run(tmp_path, models.Several)
    assert {(each.name, each.dtype, each.batched) for each in facts.outputs} == {
        ("scores", "float32", True), ("best", "int64", True), ("total", "float32", False),
    }  # fmt: skip


def test_a_model_that_does_not_run_on_its_samples_says_with_what_it_was_called(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not run on its own samples: RuntimeError") as caught:
        run(tmp_path, models.Fails)
    assert caught.value.got == "x float32[8, 6]"


def test_what_torchscript_raises_is_told_by_its_last_line_and_not_by_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"samples: Error: .*no rate of 8000") as caught:
        run(tmp_path, models.Scripted)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "says"), [(models.Nothing, "returns no tensor"), (models.Texts, "something other than numbers")]
)
def test_a_model_that_returns_no_numbers_is_a_model_error(tmp_path: Path, model: type[nn.Module], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        run(tmp_path, model)


def test_integers_are_drawn_from_jittered_copies_of_every_call(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.Several)
    names = {name for call in calls for name in arrays.eager.get_all(f"{call.id}~{facts.jittered_copies - 1}")}
    assert names == {"best"}, "what floats need for their floor they have already"
    for call in calls:
        drawn = [f"{call.id}~{number}/best" in arrays.eager for number in range(facts.jittered_copies)]
        assert sum(drawn) >= EXACT_COPIES


def test_what_arithmetic_noise_decides_changes_in_a_copy_and_what_it_does_not_stays(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.NearTies)
    first = calls[0].id
    plain = {name: arrays.eager.get(f"{first}/{name}") for name in ("clear", "tied")}
    copies = [arrays.eager.get_all(f"{first}~{number}") for number in range(facts.jittered_copies)]
    assert all(np.array_equal(copy["clear"], plain["clear"]) for copy in copies)
    assert any(not np.array_equal(copy["tied"], plain["tied"]) for copy in copies)


def test_weights_are_jittered_where_every_input_is_an_integer(tmp_path: Path) -> None:
    made = spec(models.Tokens, "tokens", "tokens: int64[N, 4] in 0..9")
    loaded = load(made, tmp_path / "samples", (1,))
    facts = reference(
        ReferenceTask(made, tmp_path / "samples", loaded.calls, tmp_path / "out", 1, loaded.model.weights_sha256)
    )
    arrays = ReferenceArrays(ArrayReader(tmp_path / "out", REFERENCE), ArrayReader(tmp_path / "out", ORACLE))
    assert facts.jittered_copies == JITTERED_COPIES
    first = loaded.calls[0].id
    copies = [arrays.eager.get(f"{first}~{number}/output") for number in range(JITTERED_COPIES)]
    assert len({copy.tobytes() for copy in copies}) > JITTERED_COPIES // 2
    floors = measure_floor(facts, arrays, loaded.calls)["output"].floors
    assert max(floors) < 50 * UNIT_ROUNDOFF["float32"], "each copy is held against an oracle of its own weights"


def test_a_copy_out_of_the_domain_is_left_out_among_reorderings_too(tmp_path: Path) -> None:
    facts, arrays, calls = run(tmp_path, models.NarrowProbability, "certain")
    assert (facts.oracle, facts.unstable) == ("reordering", None)
    drawn = [number for number in range(facts.jittered_copies) if f"{calls[0].id}~{number}/output" in arrays.eager]
    assert 0 < len(drawn) < facts.jittered_copies


@pytest.mark.parametrize("model", [models.Probability, models.CheckedProbability])
def test_a_jittered_copy_that_leaves_the_domain_of_the_model_is_left_out(
    tmp_path: Path, model: type[nn.Module]
) -> None:
    facts, arrays, calls = run(tmp_path, model, "certain")
    drawn = [number for number in range(JITTERED_COPIES) if f"{calls[0].id}~{number}/output" in arrays.eager]
    assert facts.unstable is None
    assert 0 < len(drawn) < JITTERED_COPIES


def test_a_factory_that_builds_other_weights_each_time_is_refused_with_the_way_out(tmp_path: Path) -> None:
    made = spec(models.Plain)
    loaded = load(made, tmp_path / "samples", (1,))
    task = ReferenceTask(made, tmp_path / "samples", loaded.calls, tmp_path / "out", 1, "of other weights")
    with pytest.raises(ModelError, match="different weights each time") as raised:
        reference(task)
    assert "torch.manual_seed" in str(raised.value.hint)


@pytest.mark.parametrize(("numbers", "copies"), [(1, 16), (10, 16), (100, 3), (255, 2), (256, 0), (10**6, 0)])
def test_copies_are_drawn_until_the_floor_stands_on_enough_numbers(numbers: int, copies: int) -> None:
    assert copies_for(numbers) == copies


def described(folder: Path, made: ModelSpec) -> tuple[ReferenceFacts, ReferenceArrays, tuple[Call, ...]]:
    loaded = load(made, folder / "samples", (1, 2))
    facts = reference(
        ReferenceTask(made, folder / "samples", loaded.calls, folder / "out", 1, loaded.model.weights_sha256)
    )
    arrays = ReferenceArrays(ArrayReader(folder / "out", REFERENCE), ArrayReader(folder / "out", ORACLE))
    return facts, arrays, loaded.calls


def test_a_size_that_the_signature_allows_and_the_model_refuses_is_a_note_and_ends_nothing(tmp_path: Path) -> None:
    made = replace(spec(models.Sequence, "sequences"), signature=parse_signature("x: float32[N, T in 1..9]"))
    facts, arrays, calls = described(tmp_path, made)
    assert [note for note in facts.notes if "does not run" in note] == [
        "the model itself does not run at T=1: ValueError: too short: narrow the signature, e.g. `T in 2..9`"
    ]
    missing = [dict(call.sizes) for call in calls if not arrays.eager.get_all(call.id)]
    assert missing == [{"T": 1}, {"T": 1}]
    assert facts.unstable is None


def test_held_out_samples_that_the_model_refuses_stay_an_error(tmp_path: Path) -> None:
    made = replace(spec(models.Sequence, None), signature=parse_signature("x: float32[N, T in 1..9]"))
    with pytest.raises(ModelError, match="too short"):
        described(tmp_path, made)


def test_a_call_with_few_numbers_at_sizes_of_its_own_is_drawn_again(tmp_path: Path) -> None:
    made = replace(spec(models.Sequence, "sequences"), signature=parse_signature("x: float32[N, T in 2..9]"))
    _, arrays, calls = described(tmp_path, made)
    sized = [call for call in calls if call.sizes]
    assert sized
    for call in sized:
        copies = [arrays.eager.get(f"{own_noise_id(call)}~{number}/output") for number in range(SIZED_COPIES)]
        assert len({copy.tobytes() for copy in copies}) > 1


def test_outputs_of_samples_that_fill_a_call_up_are_not_kept(tmp_path: Path) -> None:
    made = replace(spec(models.Plain), signature=parse_signature("x: float32[N in 6.., 6]"))
    facts, arrays, calls = described(tmp_path, made)
    assert [(len(call.samples), call.filler) for call in calls if call.sweep is None] == [(8, 0), (8, 0), (6, 2)]
    assert arrays.eager.get("h2/output").shape == arrays.oracle.get("h2/output").shape == (4, 300)
    assert facts.outputs[0].batched


def test_a_model_that_takes_no_sample_alone_has_its_floor_from_the_other_reorderings(tmp_path: Path) -> None:
    made = replace(spec(models.SixAtLeast), signature=parse_signature("x: float32[N in 6.., 6]"))
    facts, arrays, calls = described(tmp_path, made)
    assert facts.oracle == "reordering"
    first = calls[0].id
    assert 0 < len(arrays.copies(first)) < facts.jittered_copies + 1
    assert max(measure_floor(facts, arrays, calls)["output"].floors) >= UNIT_ROUNDOFF["float32"]


def test_samples_in_numpys_own_dtype_are_told_from_another_mistake(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        run(tmp_path, models.Plain, None, "x: float64[N, 6]")
    assert caught.value.hint == "the weights are float32 and x is float64: save the samples with .astype('float32')"
    with pytest.raises(ModelError) as other:
        run(tmp_path, models.Fails)
    assert "--input" in (other.value.hint or "")
