"""Requests that cannot be met, and what their one message has to name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tests.end_to_end.command import Project, Ran

ARCH = ("--arch", "model.py:Net", "--input", "x: float32[N, 6]")
TRACE = ("--target", "trace")


@dataclass(frozen=True)
class BadRequest:
    """The words after `parity report`, and what the message says. `folder` is where it is typed.

    Of each kind of ending one is `fresh`: before torch is loaded, after it, and in another command.
    """

    name: str
    words: tuple[str, ...]
    says: tuple[str, ...]
    folder: str = "."
    out: str | None = None
    verb: tuple[str, ...] = field(default=("report",))
    fresh: bool = False

    def command(self, project: Project) -> Callable[[], Ran]:
        """What runs it."""
        return partial(self._run, project)

    def _run(self, project: Project) -> Ran:
        out = self.out or f"out-{self.name.replace(' ', '-')}"
        options = ("--no-latency", "--out", str(project.folder / out)) if self.verb == ("report",) else ()
        chosen = replace(project, folder=project.folder / self.folder, fresh=self.fresh or project.fresh)
        ran = chosen.run(*self.verb, *self.words, *options)
        return Ran(ran.status, ran.stdout, ran.stderr, project.folder / out)


def _checkpoint(name: str, file: str, *says: str, fresh: bool = False) -> BadRequest:
    return BadRequest(name, (file, *ARCH, *TRACE), (file, *says), fresh=fresh)


def _samples(name: str, file: str, *says: str, fresh: bool = False) -> BadRequest:
    return BadRequest(name, ("tiny", *TRACE, "--in-process", "--samples", file), (file, *says), fresh=fresh)


BAD_REQUESTS: tuple[BadRequest, ...] = (
    _checkpoint("a truncated checkpoint", "truncated.pt", "truncated", "copy it again", fresh=True),
    _checkpoint("an empty checkpoint", "empty.pt", "is empty"),
    _checkpoint("a text file", "text.pt", "is text, not a model", "torch.save"),
    _checkpoint("random bytes", "random.pt", "is not a model"),
    _checkpoint("random bytes that start like a pickle", "pickle-like.pt", "model file"),
    _checkpoint("a zip that is no model", "archive.pt", "a zip archive that holds no model"),
    _checkpoint("a checkpoint that is not there", "nowhere.pt", "no such model file"),
    _checkpoint("a checkpoint that would run code", "runs-code.pt", "would run code", "--trust-pickle"),
    _checkpoint("a pickle that would run code", "runs-code-too.pt", "would run code", "--trust-pickle"),
    _checkpoint("a TorchScript archive as a model", "scripted.pt", "a TorchScript archive", "--artifact"),
    _checkpoint("an exported program as a model", "program.pt2", "an ExportedProgram", "--artifact"),
    _checkpoint("an ONNX file as a model", "model.onnx", "is an artifact, not a model", "--artifact model.onnx"),
    _checkpoint("keys that do not fit", "other-keys.pt", "1 missing, 1 unexpected, 1 of another shape",
                "head.weight [3, 8]  heat.weight [3, 8]  missing",
                "hidden.bias [8]     hidden.bias [9]     another shape"),
    BadRequest("a checkpoint without its module", ("net.pt",), ("net.pt", "no architecture", "--arch")),
    BadRequest("a factory without inputs", ("model.py:Net",), ("what the model's inputs are", "--input")),
    _samples("samples that are not there", "nowhere.npz", "no such sample file"),
    _samples("damaged samples", "damaged.npz", "damaged", fresh=True),
    _samples("samples of another shape", "shape.npz", "sample 0, input 'x'", "float32[6]", "float32[7]"),
    _samples("samples of another rank", "rank.npz", "another rank", "float32[6, 1]"),
    _samples("samples of another dtype", "dtype.npz", "another dtype", "float32[6]", "float64[6]"),
    _samples("samples of another name", "name.npz", "no input 'x'", "a, b"),
    _samples("no samples at all", "none.npz", "not one sample"),
    BadRequest("calibration on held-out samples", ("tiny", *TRACE, "--calibration", "overlap.npz"),
               ("3 held-out samples", "the first is 4", "disjoint")),
    BadRequest("an unknown target", ("tiny", "--target", "trcae"), ("no exporter 'trcae'", "did you mean 'trace'?")),
    BadRequest("an unknown runtime", ("tiny", "--target", "onnx@onxruntime"), ("did you mean 'onnxruntime'?",)),
    BadRequest("a runtime that does not read the format", ("tiny", "--target", "onnx@torchscript"),
               ("torchscript does not read what onnx makes", "onnx@onnxruntime")),
    BadRequest("an unknown model", ("tinny",), ("no model 'tinny'", "did you mean 'tiny'?")),
    BadRequest("an unknown dtype", ("model.py:Net", "--input", "x: float23[N, 6]"), ("float23", "did you mean")),
    BadRequest("an input that cannot be read", ("model.py:Net", "--input", "x float32"), ("name: dtype[dims]",)),
    BadRequest("batch sizes that are no numbers", ("tiny", "--batch-sizes", "1,two"), ("1,two", "1,8,32")),
    BadRequest("a batch size of zero", ("tiny", "--batch-sizes", "0,2"), ("--batch-sizes", "0")),
    BadRequest("a budget without times", ("tiny", "--no-latency", "--budget-ms", "5"),
               ("nothing is timed", "--no-latency and --budget-ms 5", "leave one of them out")),
    BadRequest("no threads", ("tiny", "--threads", "0"), ("one thread at least",)),
    BadRequest("a factory that raises", ("model.py:raises", "--input", "x: float32[N, 6]", "--in-process"),
               ("the factory raised RuntimeError: no weights on this machine", "model.py:raises")),
    BadRequest("a factory that returns nothing", ("model.py:returns_none", "--input", "x: float32[N, 6]",
                                                  "--in-process"), ("returned no module", "NoneType")),
    BadRequest("a module that is not there", ("nowhere.models:Net", "--input", "x: float32[N, 6]", "--in-process"),
               ("nowhere.models", "cannot be imported")),
    BadRequest("a factory that is not there", ("model.py:Nett", "--input", "x: float32[N, 6]", "--in-process"),
               ("has no 'Nett'", "did you mean 'Net'?")),
    BadRequest("inputs that do not fit the module", ("model.py:Net", "--input", "x: float32[N, 5]", "--in-process"),
               ("does not run on its own samples", "float32[8, 5]", "--input")),
    BadRequest("a setting that is not known", ("tiny",), ("limits.ratoi", "did you mean 'ratio'?", "parity.toml"),
               folder="unknown-key"),
    BadRequest("settings that are no TOML", ("tiny",), ("parity.toml cannot be read", "line 1"), folder="bad-toml"),
    BadRequest("a file where the report should go", ("tiny", *TRACE), ("taken is not a folder", "--out DIR"),
               out="taken"),
    BadRequest("an artifact that is not there", ("tiny", "--artifact", "nowhere.onnx"), ("no such artifact",)),
    BadRequest("an artifact that is none", ("tiny", "--artifact", "text.pt", "--in-process"), ("is no artifact",)),
    BadRequest("a checkpoint as an artifact", ("tiny", "--artifact", "net.pt", "--in-process"),
               ("it holds weights and no program",)),
    BadRequest("a damaged report", ("damaged.json", "trace"), ("it is not JSON",), verb=("explain",), fresh=True),
    BadRequest("a report with parts missing", ("incomplete.json", "trace"), ("this report is damaged",),
               verb=("explain",)),
    BadRequest("a report that is not there", ("nowhere.json", "trace"), ("no such report",), verb=("explain",)),
    BadRequest("a damaged report beside another", ("damaged.json", "damaged.json"), ("damaged.json", "it is not JSON"),
               verb=("diff",)),
    BadRequest("a report to compare that is not there", ("nowhere.json", "damaged.json"), ("no such report",),
               verb=("diff",)),
)  # fmt: skip


def listing(folder: Path) -> list[str]:
    """Everything below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
