"""One sample is in memory at a time, whatever it is read from."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from parity.models.signature import parse_signature
from parity.samples.sources import infer_inputs, read_samples
from parity.samples.store import write_samples

SIGNATURE = parse_signature("x: float32[N, 1000]")
ZEROS = np.zeros(1000, np.float32)


def folder(root: Path, count: int) -> str:
    (root / "d").mkdir()
    for index in range(count):
        np.save(root / "d" / f"{index}.npy", ZEROS + index)
    return "d"


def safetensors(root: Path, count: int) -> str:
    save_file({"x": np.zeros((count, 1000), np.float32)}, root / "x.safetensors")
    return "x.safetensors"


def lines(root: Path, count: int) -> str:
    with (root / "x.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"x": [float(index)] * 1000, "label": index}) + "\n" for index in range(count))
    return "x.jsonl"


def function(root: Path, count: int) -> str:
    (root / "data.py").write_text(
        "import numpy as np\n\n\ndef samples():\n"
        f"    yield from (np.full(1000, index, np.float32) for index in range({count}))\n"
    )
    return "data.py:samples"


@pytest.mark.parametrize("source", [folder, safetensors, lines, function])
def test_memory_does_not_grow_with_the_number_of_samples(source: Callable[[Path, int], str], tmp_path: Path) -> None:
    def peak(count: int) -> int:
        root = tmp_path / str(count)
        root.mkdir()
        name = source(root, count)
        infer_inputs(name, root)
        tracemalloc.start()
        try:
            infer_inputs(name, root)
            samples, labels = read_samples(name, SIGNATURE, root)
            assert write_samples(root / "out", samples, SIGNATURE, labels, name).n == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(220) - peak(20) < 200 * 2200  # bytes; a sample has 4000, and a path and its place in the index some


GROWTH = """
import sys
from pathlib import Path
from parity.samples.tensors import load_tensors

def kilobytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("RssAnon")))

load_tensors(Path(sys.argv[1]) / "small.pt")
for name in ("mapped.pt", "old.pt"):
    before = kilobytes()
    held = load_tensors(Path(sys.argv[1]) / name)
    assert sum(float(each[0]) for each in held) == 16
    print(kilobytes() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="what a process has of its own is told by Linux")
def test_tensors_are_mapped_from_their_file_unless_it_is_an_old_one(tmp_path: Path) -> None:
    tensors = [torch.ones(1 << 20) for _ in range(16)]
    torch.save(tensors[0][:1], tmp_path / "small.pt")
    torch.save(tensors, tmp_path / "mapped.pt")
    torch.save(tensors, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    done = subprocess.run([sys.executable, "-c", GROWTH, tmp_path], capture_output=True, text=True, check=True)
    mapped, old = map(int, done.stdout.split())
    assert mapped < 16 << 10  # kilobytes, of 64 << 10
    assert old > 48 << 10
