"""What `parity_case` gives a suite: the checks, each of them a verdict turned into a test's outcome."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from parity.cache import ArtifactCache, cache_folder
from parity.environment import cores, today
from parity.errors import ParityError, UnknownName, did_you_mean
from parity.explanations import explained
from parity.gates.waivers import Part, Waiver, parts_of, rule, waivers_of
from parity.golden.files import read_golden
from parity.golden.record import Golden
from parity.models.registry import known_models
from parity.models.spec import ModelSpec
from parity.records import RAN, LatencyResult, Record, Verdict, told, worst
from parity.samples.calls import usual_batch
from parity.scratch import scratch
from parity.settings import Settings, find_settings
from parity.speed import Speed, SpeedRequest, limited_batches, time_model
from parity.storage import blaming, temporary_place
from parity.suite_benchmark import WorkerClock, replay
from parity.targets import Target, check_target_limits, plan_targets
from parity.workbench import Judged, Workbench
from parity.workers.process import Children


@dataclass
class SuiteSession:
    """Everything that the cases of one pytest run share: children, benches, the worker's clock."""

    settings: Settings
    folder: scratch
    children: Children = field(default_factory=Children)
    clock: WorkerClock = field(default_factory=WorkerClock)
    selected: dict[str, list[Target]] = field(default_factory=dict)
    today: dt.date = field(default_factory=today)
    _benches: dict[str, Workbench] = field(default_factory=dict)
    _prepared: set[str] = field(default_factory=set)
    _speeds: dict[str, Speed] = field(default_factory=dict)
    _models: dict[str, ModelSpec] | None = None

    @classmethod
    def at(cls, root: Path) -> SuiteSession:
        """A session for the project of a folder; raises SettingsError where its settings are wrong."""
        return cls(find_settings(root), scratch())

    def batch(self, spec: ModelSpec) -> int:
        """The batch size whose times pytest-benchmark is given: `suites.batch`, or what the model has nearest to it."""
        dim = spec.signature.batch_dim
        return 1 if dim is None else usual_batch(dim, self.settings.suites.batch)

    def cases(self, models: Sequence[str] | None, targets: Sequence[str] | None) -> list[ParityCase]:
        """Every registered model at every target that it ships, narrowed to those asked for.

        Raises:
            UnknownName: a model or a target that is asked for is not known.
        """
        if self._models is None:
            self._models = known_models(self.settings)
            check_target_limits(self.settings)
        for name in models or ():
            if name not in self._models:
                raise UnknownName(f"there is no model {name!r}", where="--parity-model",
                                  hint=did_you_mean(name, self._models))  # fmt: skip
        waivers = {name: waivers_of(self.settings, name, self.today, self._models) for name in self._models}
        wanted = {target.name for target in plan_targets(targets)} if targets else None
        return [
            ParityCase(self, spec, target, tuple(each for each in waivers[name] if each.at(target.name)))
            for name, spec in self._models.items()
            if not models or name in models
            for target in plan_targets(spec.targets)
            if wanted is None or target.name in wanted
        ]

    def bench(self, spec: ModelSpec) -> Workbench:
        """The bench of a model; its stages are done once for all of its cases."""
        if spec.name not in self._benches:
            folder = Path(self.folder.name) / spec.name
            self._benches[spec.name] = Workbench(
                spec=spec,
                folder=folder,
                artifacts=folder / "artifacts",
                cache=ArtifactCache(cache_folder(self.settings), spare=folder / "cache"),
                children=self.children,
                timeouts=self.settings.timeouts,
            )
        return self._benches[spec.name]

    def judged(self, spec: ModelSpec, target: Target) -> Judged:
        """The cell of a target; the first one asked for brings along the model's other selected ones.

        They run side by side here, since a test that is waited for alone would leave cores idle.
        """
        bench = self.bench(spec)
        if spec.name not in self._prepared:
            self._prepared.add(spec.name)
            bench.loaded()
            others = [each for each in self.selected.get(spec.name, []) if each.name != target.name]
            with ThreadPoolExecutor(max_workers=max(cores() // bench.threads, 1)) as pool:
                first = pool.submit(bench.reference)
                list(pool.map(bench.judged, [target, *others]))
                first.result()
        return bench.judged(target)

    def speed(self, spec: ModelSpec) -> Speed:
        """The times of every selected target of a model that can be timed, taken together and once."""
        if spec.name not in self._speeds:
            bench = self.bench(spec)
            targets = self.selected.get(spec.name, [])
            cells = [(target, bench.judged(target)) for target in targets]
            sizes = (self.batch(spec), *limited_batches(spec, (target.name for target in targets)))
            request = SpeedRequest(
                batches=tuple(dict.fromkeys(sizes)), latency=self.settings.latency, golden=self.golden(spec)
            )
            self._speeds[spec.name] = time_model(bench, cells, request)
        return self._speeds[spec.name]

    def golden(self, spec: ModelSpec) -> Golden | None:
        """The model's golden, or None where none was recorded; raises GoldenError where it is damaged."""
        folder = self.settings.root / self.settings.golden / spec.name
        return read_golden(folder) if folder.exists() else None

    def close(self) -> None:
        """End the children and remove what they wrote."""
        self.children.end_all()
        self.folder.cleanup()


_SPEED = ("latency", "budgets")
"""What `check_latency` concludes on, as waivers call it."""


@dataclass(frozen=True)
class ParityCase:
    """One registered model at one target."""

    session: SuiteSession
    spec: ModelSpec
    target: Target
    waivers: tuple[Waiver, ...] = ()

    @property
    def model(self) -> str:
        """The model's name."""
        return self.spec.name

    @property
    def record(self) -> Record:
        """Everything that was learnt about this cell besides latency, before any waiver."""
        return self._judged().record

    def check_numerics(self) -> None:
        """Every output over all held-out samples: values, structure, decisions."""
        record, parts = self.record, parts_of(self.record)
        own = [part for part in parts if part.check != "shapes" or part.verdict is Verdict.INCONCLUSIVE]
        waivers = [each for each in self.waivers if each.check not in ("shapes", *_SPEED)]
        if record.stage not in RAN:
            self._conclude(record.verdict, f"{record.stage}: {record.symptom}: {record.message}", own, waivers)
            return
        verdict = worst(part.verdict for part in own)
        message = "\n".join(part.message for part in own if part.verdict is verdict and part.message)
        if record.verdict is Verdict.INCONCLUSIVE:
            verdict, message = record.verdict, record.message
        self._conclude(verdict, message, own, waivers, parts)

    def check_shapes(self) -> None:
        """Every shape of the sweep, and how the target behaves at others than the example's."""
        record = self.record
        own = [part for part in parts_of(record) if part.check == "shapes"]
        if not own:
            pytest.skip(record.message or "the signature has no symbolic dimension")
        verdict = worst(part.verdict for part in own)
        messages = [part.message for part in own if part.message and part.verdict is verdict]
        self._conclude(verdict, "\n".join(messages) or record.message, own, self._waivers_for("shapes"))

    def check_latency(self, benchmark: Any) -> None:
        """The ratio to eager against the golden's, and the absolute limits on speed, size and memory.

        All targets of the model are timed together, when the first of them is asked for, at `suites.batch` and at every
        batch size that a limit of theirs names. pytest-benchmark is given the bursts of each at `suites.batch` as they
        were measured, one a round.
        """
        if benchmark.disabled:
            pytest.skip("pytest-benchmark is disabled, as it is under xdist: times of a shared core decide nothing")
        judged = self._judged()
        if not judged.can_be_timed:
            pytest.skip(f"nothing to time: {judged.record.message}")
        with _told():
            speed = self.session.speed(self.spec)
        failed = speed.timings.failed.get(self.target.name)
        if failed is not None:
            untimed = Part("latency", None, Verdict.FAIL, f"timing: {failed}")
            self._conclude(untimed.verdict, untimed.message, [untimed], self._waivers_for(*_SPEED))
            return
        results, budgets = speed.results(self.target.name), speed.budgets(self.target.name, judged.record)
        batch = self.session.batch(self.spec)
        replay(benchmark, self.session.clock, speed.bursts(self.target.name, batch))
        shown = next(each for each in results if each.batch == batch)
        benchmark.extra_info.update(target=self.target.name, **_extra(shown))
        own = [Part("latency", None, each.verdict, told(each)) for each in results]
        own += [Part("budgets", None, each.verdict, told(each)) for each in budgets]
        verdict = worst(part.verdict for part in own)
        message = "\n".join(part.message for part in own if part.verdict is verdict and part.message)
        self._conclude(verdict, message, own, self._waivers_for(*_SPEED))

    def check_golden(self) -> None:
        """The reference and this target against what was approved at the last release."""
        from parity.golden.check import check_case  # noqa: PLC0415

        golden = self._golden()
        if golden is None:
            pytest.skip(f"no golden: parity golden record {self.model}")
        with _told():
            verdict, message = check_case(golden, self.record, self.session.bench(self.spec))
        self._conclude(verdict, message)

    def _judged(self) -> Judged:
        with _told():
            return self.session.judged(self.spec, self.target)

    def _golden(self) -> Golden | None:
        with _told():
            return self.session.golden(self.spec)

    def _waivers_for(self, *checks: str) -> list[Waiver]:
        """The waivers of some checks; whether one that is for others too is needed is not told by these."""
        given = [each for each in self.waivers if each.check in (None, *checks)]
        return [each if each.check is not None else replace(each, everywhere=True) for each in given]

    def _conclude(
        self,
        verdict: Verdict,
        message: str,
        parts: Sequence[Part] = (),
        waivers: Sequence[Waiver] = (),
        evidence: Sequence[Part] | None = None,
    ) -> None:
        """Turn a verdict into the test's outcome, once the waivers that are for these parts were applied."""
        ruling = rule(parts, waivers, self.session.today, evidence)
        if ruling.waivers:
            verdict, message = ruling.verdict, "\n".join(ruling.lines) or message
        if verdict is Verdict.FAIL:
            pytest.fail(f"{self.model} at {self.target.name}: {message}{self._explanation()}", pytrace=False)
        if verdict is Verdict.SKIP:
            pytest.skip(message)
        if verdict is Verdict.INCONCLUSIVE:
            self._undecided(message)

    def _explanation(self) -> str:
        """The likeliest reason why the cell failed, on a line of its own; empty where it is another that failed."""
        if self.record.verdict is not Verdict.FAIL:
            return ""
        facts = self.session.bench(self.spec).reference().facts
        return "".join(f"\n{each}" for each in explained(self.record, self.target, facts)[:1])

    def _undecided(self, message: str) -> NoReturn:
        if self.session.settings.suites.inconclusive == "fail":
            pytest.fail(f"{self.model} at {self.target.name}: inconclusive: {message}", pytrace=False)
        pytest.skip(f"inconclusive: {message}")


def _extra(shown: LatencyResult) -> dict[str, Any]:
    """What pytest-benchmark keeps besides the times."""
    return {
        name: getattr(shown, name)
        for name in ("batch", "threads", "ratio", "ratio_low", "ratio_high", "growth", "p90_ms", "p99_ms", "peak_bytes")
    }


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """An error of ours fails the test with its message; where in parity it was raised helps nobody."""
    try:
        with blaming((temporary_place(),)):
            yield
    except ParityError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
