"""Every kind of file, given to `parity report` for real: the table in docs/files.md.

`python -m tests.docs.files_table` writes it anew; with `--check` it only says what differs.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from parity.cli import app
from parity.reports.schema import from_json
from tests.models.files import made, strangers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "files.md"
BEGIN, END = "<!-- made by tests/docs/files_table.py: begin -->\n", "<!-- end -->\n"

SHOWN = "nets"
"""What the page calls the module of the network."""

ARCH = ("--arch", f"{made.NETS_MODULE}:net")
INPUT = ("--input", "x: float32[N, 6]")
TRUST = ("--trust-pickle",)
IMAGE = "image: float32[N, 3, 64, 64]"
SAMPLES = ("--samples", "held-out.npz")
RUN = ("--target", "trace", "--batch-sizes", "2", "--no-latency", "--in-process")

Build = Callable[[Path], Path]


@dataclass(frozen=True)
class Kind:
    """One row: what the file is, how it was made, the words after its name, and whether the samples fit it."""

    name: str
    made: str
    build: Build
    words: tuple[str, ...] = (*ARCH, *INPUT)
    samples: bool = True


@dataclass(frozen=True)
class Outcome:
    """How the command ended, and the first line of what it said: the message, or the notes of a report."""

    status: int
    said: str


def _as(build: Callable[[Path, str], Path], name: str) -> Build:
    return lambda folder: build(folder, name)


def _bytes(name: str, data: bytes) -> Build:
    return partial(strangers.written, name=name, data=data)


def _zip(name: str, *members: str) -> Build:
    return lambda folder: strangers.zipped(folder, name, *members)


def _cut(build: Build, name: str, share: float = 0.5) -> Build:
    return lambda folder: strangers.cut(build(folder), name, share)


def _allow(pattern: str) -> tuple[str, ...]:
    return (*ARCH, *INPUT, "--allow-missing", pattern)


TABLES: dict[str, tuple[Kind, ...]] = {
    "Weights": (
        Kind("state_dict", "`torch.save(model.state_dict(), …)`", made.state_dict),
        Kind("the same called `.bin`", "the same", _as(made.state_dict, "pytorch_model.bin")),
        Kind("the same called `.onnx`", "the same", _as(made.state_dict, "net.onnx")),
        Kind("`.pth.tar` in the format of before torch 1.6", "`_use_new_zipfile_serialization=False`", made.legacy),
        Kind("safetensors", "`safetensors.torch.save_file`", made.safetensors),
        Kind("safetensors called `.pt`", "the same", _as(made.safetensors, "tensors.pt")),
        Kind("weights among epoch, optimizer, NumPy numbers, a namespace, a date and a path",
             '`{"model_state_dict": …, "optimizer": …, …}`', made.among_others),
        Kind("weights and their average", '`{"model": …, "ema": {"module": …}}`', made.averaged),
        Kind("weights beside an object of a class of the project", '`{"state_dict": …, "config": Config()}`',
             made.with_config),
        Kind("keys with prefixes of wrappers", "`module._orig_mod.` before each key", made.prefixed),
        Kind("float16 weights for a float32 module", "`model.half()`", made.half),
        Kind("weights that are not a number", "`nan` in one of them", made.infinite),
        Kind("a layer left out, and allowed", "a layer taken out of the state_dict", made.headless,
             _allow("head.*")),
        Kind("a layer left out", "the same", made.headless),
        Kind("a pattern that allows nothing", "`torch.save(model.state_dict(), …)`", made.state_dict,
             _allow("tail.*")),
        Kind("keys of another name and shape", "a key renamed, a tensor of another size", made.misnamed),
        Kind("a state_dict without its architecture", "`torch.save(model.state_dict(), …)`", made.state_dict, INPUT),
        Kind("a state_dict of torchvision's, without its architecture", "`squeezenet1_1(num_classes=7)`",
             made.squeezenet, ("--input", IMAGE), samples=False),
        Kind("an optimizer's state", "`optimizer.state_dict()`", made.optimizer_only),
        Kind("no tensor at all", '`{"epoch": 3, "best": 0.9}`', made.weightless),
        Kind("weights without values", '`model.to("meta")`', made.on_meta),
    ),
    "Programs": (
        Kind("TorchScript", "`torch.jit.save(torch.jit.script(model), …)`", made.torchscript, INPUT),
        Kind("ExportedProgram", "`torch.export.save`, dynamic batch", made.exported_program, ()),
        Kind("ONNX", "`torch.onnx.export`", made.onnx, INPUT),
        Kind("ONNX called `.pt`", "the same", _as(made.onnx, "graph.pt"), INPUT),
    ),
    "Pickles": (
        Kind("a whole pickled module", "`torch.save(model, …)`", made.whole_module, INPUT),
        Kind("a whole module in a dictionary", '`{"model": model, "epoch": 3}`', made.whole_in_dictionary),
        Kind("a whole module, trusted", "`torch.save(model, …)`", made.whole_module, (*INPUT, *TRUST)),
        Kind("the same with its architecture", "the same", made.whole_module, (*ARCH, *INPUT, *TRUST)),
        Kind("a trusted module whose class is gone", "the same, the package removed", made.orphan,
             (*ARCH, *INPUT, *TRUST)),
        Kind("a pickle that runs a command", "`os.system` as `__reduce__` of an entry", made.runs_system),
        Kind("a pickle that calls a method", "`Path.touch`, in the old format", made.runs_method),
        Kind("a plain pickle", "`pickle.dump(model.state_dict(), …)`", made.plain_pickle),
        Kind("the same, trusted", "the same", made.plain_pickle, (*ARCH, *INPUT, *TRUST)),
        Kind("joblib", "`joblib.dump`", strangers.joblib),
        Kind("the tar archive of torch 0.1", "its members, by hand", strangers.oldest),
    ),
    "Damaged, or no model": (
        Kind("missing", "—", lambda folder: folder / "nowhere.pt"),
        Kind("empty", "0 bytes", _bytes("empty.pt", b"")),
        Kind("a truncated checkpoint", "the first half of one", _cut(made.state_dict, "cut.pt")),
        Kind("a truncated checkpoint of the old format", "the first half of one", _cut(made.legacy, "cut-old.pt")),
        Kind("truncated safetensors", "nine tenths of one", _cut(made.safetensors, "cut.safetensors", 0.9)),
        Kind("truncated ONNX", "the first half of one", _cut(made.onnx, "cut-graph.pt")),
        Kind("text", "`weights: none`", _bytes("text.pt", b"weights: none\n")),
        Kind("a web page", "a page to sign in", _bytes("page.pt", strangers.HTML)),
        Kind("a git-lfs pointer", "what git leaves without lfs", _bytes("pointer.safetensors", strangers.LFS)),
        Kind("random bytes", "2001 of them", _bytes("random.pt", strangers.RANDOM)),
        Kind("random bytes that begin like a pickle", "`\\x80\\x02` and 2000 of them",
             _bytes("random-pickle.pt", strangers.PICKLE_LIKE)),
        Kind("a zip that holds no model", "`readme.txt` in it", _zip("archive.pt", "readme.txt")),
        Kind("a zip around a model", "`weights/net.pt` in it", _zip("packed.zip", "weights/net.pt")),
        Kind("a tar around a model", "`tar cf packed.pth.tar net.pt`", strangers.tarred),
        Kind("gzip", "`gzip`", _bytes("net.pt.gz", strangers.GZIPPED)),
        Kind("a folder", "an empty one", lambda folder: _folder(folder / "empty")),
        Kind("shards of a distributed run", "the files of `torch.distributed.checkpoint`, empty",
             strangers.distributed),
        Kind("a TensorFlow SavedModel", "its folder", strangers.saved_model),
        Kind("HDF5", "its first bytes", _bytes("weights.h5", b"\x89HDF\r\n\x1a\n" + bytes(16))),
        Kind("Keras", "a zip with its members", _zip("net.keras", "metadata.json", "config.json", "model.weights.h5")),
        Kind("TensorFlow Lite", "its first bytes", _bytes("net.tflite", b"\x1c\0\0\0TFL3" + bytes(16))),
        Kind("a NumPy archive", "`numpy.savez`", strangers.arrays),
        Kind("a NumPy array", "`numpy.save`", strangers.array),
        Kind("an image", "the first bytes of a PNG", _bytes("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(16))),
    ),
}  # fmt: skip


def _folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


def outcome(kind: Kind) -> Outcome:
    """What `parity report` does with a file of the kind, in an empty project that defines the network."""
    from typer.testing import CliRunner  # for this module alone

    with _project() as folder:
        path = kind.build(folder)
        samples = SAMPLES if kind.samples else ()
        ran = CliRunner().invoke(app, ["report", path.name, *kind.words, *samples, *RUN, "--out", "report"])
        if (folder / "marker").exists():
            return Outcome(ran.exit_code, "RAN CODE OF THE FILE")
        report = folder / "report" / "report.json"
        if report.is_file():
            made = from_json(report.read_text(encoding="utf-8"))
            return Outcome(ran.exit_code, "; ".join((str(made.verdict), *made.model.notes)))
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            return Outcome(ran.exit_code, f"{type(ran.exception).__name__}: {ran.exception}")
        errors = [line.removeprefix("error: ") for line in ran.stderr.splitlines() if line.startswith("error: ")]
        return Outcome(ran.exit_code, errors[0] if errors else ran.output.strip()[:100])


@contextlib.contextmanager
def _project() -> Iterator[Path]:
    before, path = Path.cwd(), list(sys.path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "parity.toml").write_text('cache = "cache"\n')
        (folder / f"{made.NETS_MODULE}.py").write_text(made.NETS)
        np.savez(folder / "held-out.npz", x=np.random.default_rng(0).standard_normal((40, 6)).astype(np.float32))
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)
            sys.path[:] = path
            sys.modules.pop(made.NETS_MODULE, None)


def table() -> str:
    """The tables, in Markdown."""
    return "".join(f"\n### {title}\n\n{_rows(kinds)}" for title, kinds in TABLES.items())


def _rows(kinds: tuple[Kind, ...]) -> str:
    lines = ["| file | made with | options | exit | outcome |", "| --- | --- | --- | --- | --- |"]
    for kind in kinds:
        found = outcome(kind)
        lines.append(f"| {kind.name} | {kind.made} | {_options(kind.words)} | {found.status} | {_plain(found.said)} |")
    return "\n".join(lines) + "\n"


def _options(words: tuple[str, ...]) -> str:
    shown = [word for word in words if word not in (*INPUT, IMAGE)]
    text = " ".join(f"'{word}'" if "*" in word else word for word in shown)
    return f"`{_plain(text)}`" if shown else ""


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace(made.NETS_MODULE, SHOWN).replace("|", "\\|")


def renewed(page: str, made: str) -> str:
    """The page with the tables between its marks replaced."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + made + "\n" + END + rest.partition(END)[2]


def difference(page: str, made: str) -> str:
    """How the page and the tables differ, as a diff; empty where they do not."""
    wanted = renewed(page, made)
    return "".join(
        difflib.unified_diff(
            page.splitlines(keepends=True), wanted.splitlines(keepends=True), "docs/files.md", "as it is now"
        )
    )


def main(words: list[str]) -> int:
    """Write the page anew, or say what differs."""
    warnings.simplefilter("ignore")
    page = PAGE.read_text(encoding="utf-8")
    made = table()
    if "--check" not in words:
        PAGE.write_text(renewed(page, made), encoding="utf-8")
        return 0
    found = difference(page, made)
    sys.stdout.write(found)
    return int(bool(found))


def run() -> int:
    """The command, as it is typed."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
