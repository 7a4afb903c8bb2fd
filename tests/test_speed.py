"""What the time stage adds to records, and which cells it asks for more of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from parity import speed as module
from parity.artifacts import Artifact, Manifest
from parity.cache import ArtifactCache
from parity.errors import StorageError
from parity.gates.latency import Baseline
from parity.latency.statistics import Paired
from parity.models.signature import parse_signature
from parity.models.spec import EVERY_BATCH, Limits, ModelSpec
from parity.records import ExportFacts, MachineFacts, Record, ReferenceFacts, Stage, Symptom, Verdict
from parity.settings import LatencySettings, TimeoutSettings
from parity.speed import Speed, SpeedRequest, limited_batches, time_model, untimed_record
from parity.storage import Place
from parity.targets import Target
from parity.workbench import Judged, Workbench
from parity.workers.process import Children
from parity.workers.timed import REFERENCE, Cell, Start, Timings
from tests.latency.made import bursts, process

FACTS = ReferenceFacts(
    oracle="float64", outputs=(), longest_reduction=1, jittered_copies=0, seconds=0.1, threads=1, notes=("one",)
)
TRACE, ONNX = "trace@torchscript", "onnx@onnxruntime"


def record(**changed: Any) -> Record:
    export = ExportFacts(seconds=1.0, bytes=1000, sha256="0", cached=False)
    return Record(**{"target": TRACE, "verdict": Verdict.PASS, "stage": Stage.DONE, "symptom": Symptom.OK,
                     "export": export, **changed})  # fmt: skip


def made(*, limits: Limits | None = None, ratios: dict[str, float] | None = None, **request: Any) -> Speed:
    """Both targets at batch 2, in four processes that agree well."""
    ratios = ratios or {TRACE: 0.5}
    spec = ModelSpec("tiny", "net.py:Net", parse_signature("x: float32[N, 6]"), Path(), limits=limits or Limits())
    paired = {
        Cell(name, 2, 1): [process(at, ratio=ratio, noise=0.005) for at in range(4)] for name, ratio in ratios.items()
    }
    paired[Cell(REFERENCE, 2, 1)] = [Paired(bursts((0.01,), (0.01,)))] * 4
    starts = {(name, 1): [Start(1.0, 0.2, 2), Start(3.0, 0.4, 2), Start(2.0, 0.3, 2)] for name in (REFERENCE, *ratios)}
    return Speed(spec, SpeedRequest((2,), LatencySettings(), **request), Timings(paired, starts=starts))


@pytest.fixture
def golden(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Ratios of a golden, by target; what is put in counts."""
    ratios: dict[str, float] = {}

    def baseline(_: object, target: str, *__: object) -> tuple[Baseline | None, str]:
        return (Baseline(ratios[target]), "") if target in ratios else (None, "no golden was given")

    monkeypatch.setattr(module, "latency_baseline", baseline)
    return ratios


def test_eager_times_go_with_the_reference() -> None:
    facts = made().timed_reference(FACTS)
    assert [each.batch for each in facts.latency] == [2]
    assert facts.notes == ("one",)
    assert facts.startup[0].load_ms == 2000
    assert facts.sweep[0].best_batch == 2


def test_an_eager_session_that_cannot_be_timed_is_noted_and_leaves_no_ratio() -> None:
    alone = Timings({Cell(TRACE, 2, 1): [Paired(bursts((0.001,)))]}, {REFERENCE: "the worker was killed by SIGKILL"})
    speed = Speed(made().spec, SpeedRequest((2,), LatencySettings()), alone)
    facts = speed.timed_reference(FACTS)
    assert facts.latency == ()
    assert facts.notes[-1].endswith("no ratio to it: the worker was killed by SIGKILL")
    (measured,) = speed.measured(TRACE)
    assert measured.ratio is None
    assert measured.median_ms == pytest.approx(1.0)


def test_a_record_gains_its_times_its_startup_and_its_sweep() -> None:
    timed = made(budget_ms=1000.0).timed_record(record())
    assert [each.batch for each in timed.latency] == [2]
    assert timed.verdict is Verdict.PASS
    (startup,) = timed.startup
    assert (startup.load_ms, startup.first_ms, startup.batch, startup.processes) == pytest.approx((2000, 300, 2, 3))
    assert timed.sweep[0].batch_within_budget == 2


def test_one_that_has_become_slower_fails_at_the_time_stage_and_its_twin_passes(golden: dict[str, float]) -> None:
    golden[TRACE] = 0.3
    slower = made().timed_record(record())
    assert (slower.verdict, slower.stage, slower.symptom) == (Verdict.FAIL, Stage.TIME, Symptom.MISMATCH)
    assert slower.message.startswith("batch 2: ")
    golden[TRACE] = 0.5
    assert made().timed_record(record()).verdict is Verdict.PASS


def test_an_absolute_limit_fails_a_record_that_is_otherwise_well() -> None:
    for limits in (Limits(max_ms=((EVERY_BATCH, 0.5),)), Limits(max_bytes=999)):
        slow = made(limits=limits).timed_record(record())
        assert (slower := slow).verdict is Verdict.FAIL
        assert slower.budgets[0].verdict is Verdict.FAIL
    generous = Limits(max_ms=((EVERY_BATCH, 500.0),), max_bytes=1000, min_throughput=1.0)
    passed = made(limits=generous).timed_record(record())
    assert passed.verdict is Verdict.PASS
    assert {each.metric for each in passed.budgets} == {"max_ms", "max_bytes", "min_throughput"}


def test_a_record_that_failed_before_keeps_its_own_message() -> None:
    failed = record(verdict=Verdict.FAIL, message="far off", stage=Stage.COMPARE, symptom=Symptom.MISMATCH)
    timed = made(limits=Limits(max_bytes=1)).timed_record(failed)
    assert (timed.message, timed.stage) == ("far off", Stage.COMPARE)


def test_a_target_that_cannot_be_timed_fails_with_the_reason() -> None:
    speed = made()
    speed.timings.failed[TRACE] = "out of memory"
    found = speed.timed_record(record())
    assert (found.verdict, found.stage, found.symptom) == (Verdict.FAIL, Stage.TIME, Symptom.EXCEPTION)
    assert found.message == "timing: out of memory"
    speed.timings.symptoms[TRACE] = Symptom.CRASH
    assert speed.timed_record(record()).symptom is Symptom.CRASH


def test_cells_are_undecided_while_their_interval_holds_the_limit(golden: dict[str, float]) -> None:
    golden.update({TRACE: 0.5, ONNX: 0.5 / 1.1})
    speed = made(ratios={TRACE: 0.5, ONNX: 0.5})
    assert speed.undecided(speed.timings) == {Cell(ONNX, 2, 1)}


def test_a_limit_in_milliseconds_leaves_a_cell_undecided_as_well() -> None:
    first = made()
    (measured,) = first.measured(TRACE)
    speed = made(limits=Limits(max_ms=((EVERY_BATCH, measured.median_ms),)))
    assert speed.undecided(speed.timings) == {Cell(TRACE, 2, 1)}


def test_without_anything_to_hold_it_against_nothing_is_undecided_unless_all_is_asked_for() -> None:
    speed = made(ratios={TRACE: 0.5, ONNX: 0.5})
    assert not speed.undecided(speed.timings)
    thorough = made(ratios={TRACE: 0.5, ONNX: 0.5}, thorough=True)
    assert set(thorough.undecided(thorough.timings)) == {Cell(TRACE, 2, 1), Cell(ONNX, 2, 1)}


def test_a_noisy_machine_is_part_of_the_facts_and_of_what_it_leaves_open(golden: dict[str, float]) -> None:
    golden[TRACE] = 0.5 / 1.1
    quiet = made()
    noisy = Speed(quiet.spec, quiet.request, quiet.timings, MachineFacts(seconds=10.0, cores=2, other_share=0.8))
    assert quiet.facts().notes == ()
    (note,) = noisy.facts().notes
    assert "80" in note
    assert note in noisy.timed_record(record()).message


def test_without_timing_size_and_memory_are_judged_all_the_same() -> None:
    spec = made(limits=Limits(max_bytes=999)).spec
    assert untimed_record(record(), spec).verdict is Verdict.FAIL
    assert untimed_record(record(export=None), spec).verdict is Verdict.PASS
    skipped = record(verdict=Verdict.SKIP, stage=Stage.EXPORT, symptom=Symptom.UNSUPPORTED)
    assert untimed_record(skipped, spec) == skipped


@pytest.mark.parametrize(
    ("batch", "signature", "said"),
    [
        (64, "x: float32[N, 6]", "batch 64: it was not timed there: --batch-sizes 2,64 does"),
        (64, "x: float32[N in 1..8, 6]", "batch 64: it is never timed there: the signature's batch size is N in 1..8"),
        (64, "x: float32[4, 6]", "batch 64: it is never timed there: the inputs have no batch dimension"),
    ],
)
def test_a_limit_at_a_batch_size_without_times_says_what_would_make_some(batch: int, signature: str, said: str) -> None:
    speed = made(limits=Limits(max_ms=((2, 1000.0), (batch, 5.0))))
    timed = replace(speed, spec=replace(speed.spec, signature=parse_signature(signature))).timed_record(record())
    assert timed.verdict is Verdict.INCONCLUSIVE
    assert timed.message.startswith(said)
    assert [str(each.verdict) for each in timed.budgets] == ["pass", "inconclusive"]


def test_batch_sizes_that_limits_name_are_those_that_the_signature_allows() -> None:
    spec = replace(
        made(limits=Limits(max_ms=((EVERY_BATCH, 1.0), (8, 1.0), (2, 1.0), (64, 1.0)))).spec,
        signature=parse_signature("x: float32[N in 1..8, 6]"),
        target_limits=(("script", Limits(max_ms=((4, 1.0),))),),
    )
    assert limited_batches(spec, [TRACE]) == (2, 8)
    assert limited_batches(spec, [TRACE, "script@torchscript"]) == (2, 4, 8)
    assert limited_batches(replace(spec, limits=Limits()), [TRACE]) == ()
    assert limited_batches(replace(spec, signature=parse_signature("x: float32[8, 6]")), [TRACE]) == ()


def test_what_is_benchmarked_is_one_batch_size_alone() -> None:
    speed = made()
    speed.timings.paired[Cell(TRACE, 8, 1)] = [Paired(bursts((5.0,)), bursts((9.0,)))]
    assert [burst.times for burst in speed.bursts(TRACE, 8)] == [(5.0,)]
    assert all(max(burst.times) < 5.0 for burst in speed.bursts(TRACE, 2))


def test_without_times_of_eager_the_gate_is_open_for_that_reason_and_not_for_too_few_processes(
    golden: dict[str, float],
) -> None:
    golden[TRACE] = 0.5
    alone = Timings({Cell(TRACE, 2, 1): [Paired(bursts((0.001,)))] * 3}, {REFERENCE: "killed"})
    timed = replace(made(), timings=alone).timed_record(record())
    assert timed.verdict is Verdict.INCONCLUSIVE
    assert timed.message == (
        "batch 2: eager could not be timed beside it, so there is no ratio to hold against the golden's"
    )
    assert made().timed_record(record()).verdict is Verdict.PASS


def test_a_message_names_the_threads_where_they_are_several() -> None:
    speed = made(limits=Limits(max_ms=((EVERY_BATCH, 0.0001),)))
    paired = {cell._replace(threads=2): found for cell, found in speed.timings.paired.items()}
    assert replace(speed, timings=Timings(paired)).timed_record(record()).message.startswith("batch 2, 2 threads: ")
    assert speed.timed_record(record()).message.startswith("batch 2: ")


@dataclass
class FullFolders(Children):
    """Children that are asked where there is room, and find none in these folders."""

    full: tuple[Path, ...] = ()

    def check_room(self, also: Sequence[Place] = ()) -> None:
        if any(place.folder in self.full for place in also):
            raise StorageError("the disk is full")


@pytest.mark.parametrize(("form", "blamed"), [("module", True), ("onnx", False)])
def test_a_full_cache_is_the_fault_of_what_compiles_into_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, *, blamed: bool
) -> None:
    cache = tmp_path / "cache"
    spec = ModelSpec("tiny", "net.py:Net", parse_signature("x: float32[N, 6]"), tmp_path)
    bench = Workbench(
        spec, tmp_path, tmp_path / "artifacts", ArtifactCache(cache), FullFolders(full=(cache,)), TimeoutSettings()
    )
    artifact = Artifact(tmp_path, Manifest("any", form, "float", "model"), scratch=cache)
    monkeypatch.setattr(module, "time_targets", lambda _: Timings(failed={TRACE: "out of memory"}))
    cells = [(Target("trace", "torchscript"), Judged(record(), artifact))]
    request = SpeedRequest((2,), LatencySettings())
    if blamed:
        with pytest.raises(StorageError, match="the disk is full"):
            time_model(bench, cells, request)
    else:
        assert time_model(bench, cells, request).timings.failed == {TRACE: "out of memory"}
