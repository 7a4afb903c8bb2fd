"""Today against a golden: rounding is no change, everything else is, and the message says what moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.compare.errors import Floats
from parity.errors import GoldenError
from parity.golden.check import check_case, check_golden, golden_verdict
from parity.golden.compare import compare_golden
from parity.golden.files import read_golden
from parity.golden.record import Golden
from parity.golden.recording import record_golden
from parity.records import GoldenResult, Verdict
from tests.compare import detected

from . import made


def _golden(tmp_path: Path, bench: made.MadeBench, *, ratio: float = 1.5) -> Golden:
    folder = tmp_path / "golden" / "net"
    record_golden(made.report(bench, made.record(ratio)), bench, folder)
    return read_golden(folder)


def _output(results: Sequence[GoldenResult], name: str = "y") -> GoldenResult:
    return next(result for result in results if result.kind == "output" and result.name == name)


def _told(results: Sequence[GoldenResult]) -> str:
    return "\n".join(result.message for result in results)


def test_the_same_reference_passes_with_nothing_moved(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits()})
    results = check_golden(_golden(tmp_path, bench), [], bench)
    assert [result.kind for result in results] == ["output"]
    assert golden_verdict(results) is Verdict.PASS
    assert "moved" not in _told(results)


@pytest.mark.parametrize("seed", range(5))
def test_golden_outputs_rounded_differently_pass(tmp_path: Path, seed: int) -> None:
    """The healthy twin: another processor or another torch moves outputs by a unit in the last place."""
    bench = made.bench(tmp_path, {"y": made.logits()})
    golden = _golden(tmp_path, bench)
    was: Any = golden.tensors["y@0"]
    steps = np.random.default_rng(seed).integers(-1, 2, was.shape)
    moved = (was + steps * np.spacing(was)).astype(np.float32)
    newer = bench.changed(toolchain={"torch": "2.7.0"}, machine="another machine")
    results = check_golden(replace(golden, tensors={"y@0": moved}), [], newer)
    assert golden_verdict(results) is Verdict.PASS
    assert "moved since: toolchain (machine this machine -> another machine, torch 2.6.0 -> 2.7.0)" in _told(results)


def test_scaled_weights_fail_and_are_named(tmp_path: Path) -> None:
    oracle = made.logits()
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}))
    changed = made.bench(tmp_path / "new", {"y": [1.01 * array for array in oracle]}, weights_sha256="c" * 64)
    result = _output(check_golden(golden, [], changed))
    assert result.verdict is Verdict.FAIL
    assert result.numeric is not None
    assert result.numeric.error == pytest.approx(0.01, rel=1)
    assert result.limit == 10.0
    assert f"moved since the golden: model (weights {'a' * 12} -> {'c' * 12})" in result.message
    assert "`parity golden accept net`" in result.message
    assert all(part in result.message for part in ("y: error 0.01", "floors of", "10 are allowed", "worst in sample"))


def test_one_wrong_sample_is_the_worst_sample(tmp_path: Path) -> None:
    oracle = made.logits()
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}))
    oracle[13] = oracle[13] * 1.001
    result = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": oracle}, code_sha256="c" * 64)))
    assert result.verdict is Verdict.FAIL
    assert result.numeric is not None
    assert result.numeric.worst_sample == 13
    assert "model (code" in result.message


def test_a_failure_with_nothing_moved_says_so(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    other = made.bench(tmp_path / "new", {"y": made.logits(seed=1)})
    assert "nothing that a golden knows of has moved" in _output(check_golden(golden, [], other)).message


def test_changed_weights_with_the_same_outputs_pass_with_a_note(tmp_path: Path) -> None:
    oracle = made.logits()
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}))
    changed = made.bench(tmp_path / "new", {"y": oracle}, weights_sha256="c" * 64, code_sha256="d" * 64)
    results = check_golden(golden, [], changed)
    assert golden_verdict(results) is Verdict.PASS
    assert "moved since: model (weights" in _output(results).message
    assert [result.name for result in results if result.kind == "model"] == ["weights", "code"]


def test_reordered_samples_are_no_change(tmp_path: Path) -> None:
    oracle = made.logits()
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}))
    order = np.random.default_rng(0).permutation(20)
    shuffled = made.bench(tmp_path / "new", {"y": [oracle[i] for i in order]}, digests=[f"input-{i}" for i in order])
    results = check_golden(golden, [], shuffled)
    assert golden_verdict(results) is Verdict.PASS
    assert "20 of 20 kept samples are still held out" in _told(results)


def test_the_same_sample_twice_is_compared_twice(tmp_path: Path) -> None:
    oracle = [*made.logits(n=3), made.logits(n=1)[0]]
    bench = made.bench(tmp_path, {"y": oracle}, digests=["a", "b", "c", "a"])
    assert golden_verdict(check_golden(_golden(tmp_path, bench), [], bench)) is Verdict.PASS


def test_vanished_samples_are_named_and_the_rest_is_compared(tmp_path: Path) -> None:
    oracle = made.logits()
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}))
    fewer = made.bench(tmp_path / "new", {"y": oracle[7:]}, digests=[f"input-{i}" for i in range(7, 20)])
    results = check_golden(golden, [], fewer)
    assert golden_verdict(results) is Verdict.PASS
    assert "13 of 20 kept samples are still held out" in _told(results)
    assert "20 samples then, 13 today; gone are 0, 1, 2, 3, 4 and 2 more" in _told(results)
    numeric = _output(results).numeric
    assert numeric is not None
    assert numeric.n == 13


def test_replaced_samples_are_inconclusive(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    other = made.bench(tmp_path / "new", {"y": made.logits(seed=1)}, digests=[f"other-{i}" for i in range(20)])
    results = check_golden(golden, [], other)
    assert golden_verdict(results) is Verdict.INCONCLUSIVE
    assert "data: 0 of 20 kept samples" in _told(results)
    assert "`parity golden accept net`" in _told(results)


def test_an_unstable_reference_is_inconclusive(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits()})
    golden = _golden(tmp_path, bench)
    shaky = bench.changed(reference=replace(bench.made.reference, unstable="two runs differ in 'y'"))
    results = check_golden(golden, [], shaky)
    assert golden_verdict(results) is Verdict.INCONCLUSIVE
    assert "two runs differ in 'y'" in _told(results)


def test_integers_are_equal_or_fail(tmp_path: Path) -> None:
    oracle = [np.arange(4) + i for i in range(9)]
    dtypes = {"y": "int64"}
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": oracle}, dtypes=dtypes))
    same = made.bench(tmp_path / "same", {"y": oracle}, dtypes=dtypes)
    assert _output(check_golden(golden, [], same)).verdict is Verdict.PASS
    oracle[4] = np.array([4, 5, 6, 8])
    result = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": oracle}, dtypes=dtypes)))
    assert result.verdict is Verdict.FAIL
    assert "y: exact: 1 values differ" in result.message


@pytest.mark.parametrize("batched", [True, False])
def test_ragged_outputs_are_compared_sample_by_sample(tmp_path: Path, *, batched: bool) -> None:
    rng = np.random.default_rng(0)
    oracle: list[Floats] = [rng.normal(size=(length, 3)) for length in (2, 5, 2, 5, 4)]
    bench = made.bench(tmp_path, {"y": oracle}, batched=batched)
    golden = _golden(tmp_path, bench)
    assert golden_verdict(check_golden(golden, [], bench)) is Verdict.PASS
    oracle[3] = oracle[3] * 1.01
    numeric = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": oracle}, batched=batched))).numeric
    assert numeric is not None
    assert numeric.worst_sample == 3


def test_a_kept_subset_of_positions_is_compared(tmp_path: Path) -> None:
    oracle = made.logits(n=2, classes=300_000)
    bench = made.bench(tmp_path, {"y": oracle})
    golden = _golden(tmp_path, bench)
    assert golden.subset
    assert golden_verdict(check_golden(golden, [], bench)) is Verdict.PASS
    changed = made.bench(tmp_path / "new", {"y": [1.01 * array for array in oracle]})
    assert golden_verdict(check_golden(golden, [], changed)) is Verdict.FAIL
    wider = made.bench(tmp_path / "wide", {"y": made.logits(n=2, classes=300_001)})
    assert "[300000] in the golden, [300001] today" in _told(check_golden(golden, [], wider))


def test_a_renamed_output_fails_by_both_names(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    results = check_golden(golden, [], made.bench(tmp_path / "new", {"logits": made.logits()}))
    assert [(r.name, r.verdict) for r in results] == [("y", Verdict.FAIL), ("logits", Verdict.FAIL)]
    assert "y: missing: the golden has it, and today 'logits' is new: was it renamed?" in _told(results)
    assert "`parity golden accept net`" in results[0].message


def test_missing_and_extra_outputs_fail_by_name_and_the_rest_is_compared(tmp_path: Path) -> None:
    one, two = made.logits(), made.logits(seed=1)
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": one, "aux": two}))
    missing = check_golden(golden, [], made.bench(tmp_path / "less", {"y": one}))
    assert {result.name: result.verdict for result in missing} == {"aux": Verdict.FAIL, "y": Verdict.PASS}
    extra = check_golden(golden, [], made.bench(tmp_path / "more", {"y": one, "aux": two, "new": one}))
    assert _output(extra, "new").verdict is Verdict.FAIL
    assert "the golden has aux, y" in _output(extra, "new").message


def test_a_changed_dtype_fails(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    result = _output(
        check_golden(golden, [], made.bench(tmp_path / "new", {"y": made.logits()}, dtypes={"y": "float64"}))
    )
    assert result.verdict is Verdict.FAIL
    assert "y: dtype: float32 in the golden, float64 today" in result.message


def test_a_changed_shape_fails(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    result = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": made.logits(classes=6)})))
    assert result.verdict is Verdict.FAIL
    assert "y: shape: [5] in the golden, [6] today" in result.message


def test_a_lost_batch_axis_fails(tmp_path: Path) -> None:
    golden = _golden(tmp_path, made.bench(tmp_path, {"y": made.logits()}))
    result = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": made.logits()}, whole=["y"])))
    assert result.verdict is Verdict.FAIL
    assert "no batch axis today" in result.message


def test_nan_belongs_where_the_golden_has_it(tmp_path: Path) -> None:
    oracle = made.logits()
    oracle[2][1] = np.nan
    bench = made.bench(tmp_path, {"y": oracle})
    golden = _golden(tmp_path, bench)
    assert golden_verdict(check_golden(golden, [], bench)) is Verdict.PASS
    result = _output(check_golden(golden, [], made.bench(tmp_path / "new", {"y": made.logits()})))
    assert result.verdict is Verdict.FAIL
    assert "the golden has nan where the reference has" in result.message


def test_a_constant_output_that_was_approved_stays_approved(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": [np.zeros(3)] * 9})
    golden = _golden(tmp_path, bench)
    assert golden_verdict(check_golden(golden, [], bench)) is Verdict.PASS
    alive = made.bench(tmp_path / "new", {"y": made.logits(n=9, classes=3)})
    assert golden_verdict(check_golden(golden, [], alive)) is Verdict.FAIL
    dead = _output(check_golden(_golden(tmp_path / "alive", alive), [], bench))
    assert dead.verdict is Verdict.FAIL


def test_an_output_that_cannot_be_kept_is_skipped_by_name(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits(), "total": made.logits()}, whole=["total"])
    results = check_golden(_golden(tmp_path, bench), [], bench)
    assert _output(results, "total").verdict is Verdict.SKIP
    assert golden_verdict(results) is Verdict.PASS


def test_a_golden_that_keeps_nothing_is_inconclusive(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"total": made.logits()}, whole=["total"])
    results = check_golden(_golden(tmp_path, bench), [], bench)
    assert golden_verdict(results) is Verdict.INCONCLUSIVE
    assert "the golden keeps no sample" in _told(results)


def test_the_golden_of_another_model_is_refused(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits()})
    golden = replace(_golden(tmp_path, bench), name="other")
    with pytest.raises(GoldenError, match="another model"):
        compare_golden(golden, [], bench.made)


def test_each_target_has_its_numbers_beside_the_goldens(tmp_path: Path) -> None:
    bench = made.bench(tmp_path, {"y": made.logits()})
    results = check_golden(_golden(tmp_path, bench), [made.record(2.5, 0.995)], bench)
    (target,) = (result for result in results if result.kind == "target")
    assert (target.ratio, target.golden_ratio, target.agreement, target.golden_agreement) == (2.5, 1.5, 0.995, 1.0)
    assert target.verdict is None


def test_a_case_has_one_verdict_and_a_message(tmp_path: Path) -> None:
    oracle = made.logits()
    bench = made.bench(tmp_path, {"y": oracle})
    golden = _golden(tmp_path, bench)
    assert check_case(golden, made.record(), bench)[0] is Verdict.PASS
    changed = made.bench(tmp_path / "new", {"y": [1.01 * array for array in oracle]}, weights_sha256="c" * 64)
    verdict, message = check_case(golden, made.record(), changed)
    assert verdict is Verdict.FAIL
    assert message.splitlines()[0].startswith("y: error")


def _detector(folder: Path, sets: Sequence[dict[str, Any]]) -> made.MadeBench:
    """A reference that finds these boxes, one image a sample."""
    by_name = {name: [each[name] for each in sets] for name in sets[0]}
    dtypes = {"boxes": "float32", "scores": "float32", "labels": "int64"}
    return made.bench(folder, by_name, dtypes=dtypes, batched=False)


def test_boxes_in_another_order_are_what_was_approved_and_one_that_has_moved_or_is_gone_is_not(tmp_path: Path) -> None:
    sets = [detected.found(12), detected.found(9, seed=1)]
    golden = _golden(tmp_path, _detector(tmp_path, sets))
    turned = [detected.shuffled(each) for each in sets]
    healthy = check_golden(golden, [], _detector(tmp_path / "turned", turned))
    assert {each.verdict for each in healthy if each.kind == "output"} == {Verdict.PASS}
    turned[0]["boxes"][2] += 0.1
    moved = _output(check_golden(golden, [], _detector(tmp_path / "moved", turned)), "boxes")
    assert moved.verdict is Verdict.FAIL
    assert "floors of" in moved.message
    fewer = [sets[0], detected.without(sets[1], 2)]
    gone = _output(check_golden(golden, [], _detector(tmp_path / "gone", fewer)), "boxes")
    assert gone.verdict is Verdict.FAIL
    assert "1 of 21 boxes are on one side only" in gone.message
