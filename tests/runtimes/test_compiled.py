"""A compiled session answers as the model does, says how much of it was compiled, and is caught where it lies."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import parity
from parity.arrays import Array
from parity.artifacts import MODULE, Artifact, Manifest, write_recipe
from parity.errors import ParityError
from parity.exporters import EXPORTERS
from parity.records import Report, Stage, Symptom, Verdict
from parity.runtimes import RUNTIMES, Session, SessionOptions
from parity.runtimes.compiled import CACHE, compiled_facts, compiler_line
from tests.runtimes import compilable

AVAILABLE = EXPORTERS.get("compile").availability()
needs_inductor = pytest.mark.skipif(not AVAILABLE, reason=str(AVAILABLE))
pytestmark = pytest.mark.filterwarnings("error::UserWarning")

BATCHES = (4, 3, 1, 8)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for the module: what Inductor makes first takes longest, and is made once."""
    from torch._inductor import config

    folder, threads = tmp_path_factory.mktemp("compiled"), config.compile_threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE, "")  # put back when the module is done, whatever sessions set it to
        patch.setenv("PARITY_CACHE", str(folder))
        yield folder
    config.compile_threads = threads


@pytest.fixture(autouse=True)
def _one_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    monkeypatch.setenv("PARITY_CACHE", str(cache))


def opened(module: type[nn.Module], cache: Path, *, backend: str = "eager", device: str = "cpu") -> Session:
    """A session as the runtime opens it; Dynamo's own `eager` backend compiles nothing, and costs nothing."""
    folder = cache / "artifact"
    folder.mkdir(exist_ok=True)
    write_recipe(folder / "recipe.json", {"run": "compiled", "backend": backend})
    manifest = Manifest("compile", MODULE, "float", "recipe.json", ("output",))
    options = SessionOptions(1, ("x",), device, module=lambda: module().eval())
    return RUNTIMES.get("torch").open(Artifact(folder, manifest, cache / "compiled"), options)


def numbers(batch: int) -> Array:
    return np.random.default_rng(batch).standard_normal((batch, 5)).astype(np.float32)


def worst(session: Session, module: type[nn.Module], batches: tuple[int, ...] = BATCHES) -> float:
    """The largest difference from the model, over batch sizes."""
    own, found = module().eval(), []
    for batch in batches:
        with torch.inference_mode():
            expected = own(torch.from_numpy(numbers(batch))).numpy()
        found.append(float(np.abs(session.run({"x": numbers(batch)})["output"] - expected).max()))
    return max(found)


def children() -> set[str]:
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@needs_inductor
def test_inductor_answers_as_the_model_does_at_every_size_and_the_next_session_finds_its_work(cache: Path) -> None:
    before = children()
    session = opened(compilable.Small, cache, backend="inductor")
    assert worst(session, compilable.Small) < 1e-6
    assert session.facts == {"device": "cpu", "compiled": "3 graphs, 0 of them found compiled in the cache"}
    torch._dynamo.reset()
    again = opened(compilable.Small, cache, backend="inductor")
    assert worst(again, compilable.Small) < 1e-6
    assert again.facts["compiled"] == "3 graphs, 3 of them found compiled in the cache"
    assert os.environ[CACHE] == str(cache / "compiled")
    assert children() <= before, "nothing that compiles stays beside what is timed"


@pytest.fixture(scope="module")
def judged(cache: Path) -> dict[str, Report]:
    return {
        name: parity.report(
            f"tests.runtimes.compilable:{name}",
            inputs=["x: float32[N, 5]"],
            targets=["compile", "eager"],
            batch_sizes=(1, 4),
            latency=False,
            in_process=True,
        )
        for name in ("SaidToBeConstant", "Shared")
    }


@needs_inductor
def test_state_that_dynamo_takes_for_a_constant_is_caught_and_eager_itself_passes(judged: dict[str, Report]) -> None:
    record = judged["SaidToBeConstant"].record("compile@torch")
    assert (record.verdict, record.stage, record.symptom) == (Verdict.FAIL, Stage.COMPARE, Symptom.MISMATCH)
    assert {shape.batch: shape.verdict for shape in record.shapes}[4] is Verdict.FAIL
    assert judged["SaidToBeConstant"].record("eager@torch").verdict is Verdict.PASS


@needs_inductor
def test_the_same_state_passes_where_dynamo_follows_it(judged: dict[str, Report]) -> None:
    record = judged["Shared"].record("compile@torch")
    assert (record.verdict, record.stage) == (Verdict.PASS, Stage.DONE), record


@needs_inductor
def test_a_target_without_a_file_has_no_size_and_says_what_was_compiled(judged: dict[str, Report]) -> None:
    compiled, eager = (judged["Shared"].record(target) for target in ("compile@torch", "eager@torch"))
    assert compiled.export is None
    assert eager.export is None
    assert "graphs" in (compiled.runtime or {})["compiled"]
    assert eager.runtime == {"device": "cpu"}


def test_a_cache_whose_name_a_compiler_would_read_as_two_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "own"))
    (tmp_path / "my cache").mkdir()
    opened(compilable.Small, tmp_path / "my cache")
    assert os.environ[CACHE] == str(tmp_path / "own")
    opened(compilable.Small, tmp_path)
    assert os.environ[CACHE] == str(tmp_path / "compiled")


def test_a_graph_that_ends_early_is_told_with_its_reason(cache: Path) -> None:
    session = opened(compilable.Breaks, cache)
    assert worst(session, compilable.Breaks, (4,)) == 0
    assert session.facts["graph breaks"].startswith("1, most often: ")
    assert session.facts["compiled"] == "2 graphs"


def test_a_function_that_dynamo_leaves_to_eager_is_told_with_its_reason(cache: Path) -> None:
    session = opened(compilable.Recurrent, cache)
    assert worst(session, compilable.Recurrent, (4,)) == 0
    assert session.facts["functions left to eager"] == "1, most often: Attempted to wrap RNN, GRU, or LSTM"
    assert session.facts["compiled"] == "1 graph"


def test_a_whole_graph_has_no_break_and_reaches_no_limit(cache: Path) -> None:
    session = opened(compilable.Small, cache)
    assert worst(session, compilable.Small, tuple(range(1, 14))) == 0
    assert session.facts.keys() == {"device", "compiled"}


def test_sizes_that_ran_eagerly_after_the_recompile_limit_are_told(cache: Path) -> None:
    session = opened(compilable.OneByOne, cache)
    few = tuple(range(2, 2 + torch._dynamo.config.recompile_limit))
    assert worst(session, compilable.OneByOne, few) == 0
    assert "recompile limit" not in session.facts
    assert worst(session, compilable.OneByOne, (20, 21)) == 0
    assert session.facts["recompile limit"].startswith("reached: the sizes that came after it ran eagerly")


def test_the_limit_is_known_by_the_names_that_older_versions_give_it() -> None:
    def counted(reason: str) -> dict[str, Counter[str]]:
        return {"stats": Counter(), "graph_break": Counter(), "unimplemented": Counter([reason]), "inductor": Counter()}

    assert "recompile limit" in compiled_facts(counted("cache_size_limit reached"))
    assert "recompile limit" in compiled_facts(counted("recompile_limit reached"))
    assert "recompile limit" not in compiled_facts(counted("Unsupported context manager"))


def test_a_model_of_which_nothing_is_compiled_does_not_pass_for_one_that_is(cache: Path) -> None:
    with pytest.raises(ParityError, match="compiled nothing of this model") as caught:
        opened(compilable.Disabled, cache).run({"x": numbers(2)})
    assert "torch.compiler.disable" in caught.value.line


def test_a_runtime_that_knows_no_model_says_so(tmp_path: Path) -> None:
    write_recipe(tmp_path / "recipe.json", {"run": "eager"})
    artifact = Artifact(tmp_path, Manifest("eager", MODULE, "float", "recipe.json"))
    with pytest.raises(ParityError, match="nothing says here how the model is built"):
        RUNTIMES.get("torch").open(artifact, SessionOptions(1, ("x",)))


def test_of_a_compiler_that_fails_the_line_is_told_that_says_why() -> None:
    message = (
        "CppCompileError: C++ compile error\n\nCommand:\ng++ a.cpp -o a.so\n\nOutput:\nIn file included from a.cpp:1:\n"
    )
    assert compiler_line(f"{message}fatal error: omp.h: No such file\n") == "fatal error: omp.h: No such file"
    assert compiler_line(message) == "In file included from a.cpp:1:"
    assert compiler_line("RuntimeError: mat1 and mat2 shapes cannot be multiplied") is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_on_a_gpu_it_is_compiled_for_the_gpu(cache: Path) -> None:
    session = opened(compilable.Small, cache, backend="inductor", device="cuda")
    assert worst(session, compilable.Small) < 1e-4
    assert session.facts["device"] == "cuda"
