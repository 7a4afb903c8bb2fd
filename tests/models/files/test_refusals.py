from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from parity.models.files.pickles import Outline, Seen, outline
from parity.models.files.refusals import HARMLESS, code_that_would_run, refusal, unread, whole_module
from tests.models.files import made


def held(tmp_path: Path, value: Any) -> tuple[Path, Outline]:
    path = tmp_path / "held.pt"
    torch.save({"w": torch.zeros(1), "beside": value}, path)
    return path, outline(path)


@pytest.mark.parametrize(
    ("function", "argument", "name"),
    [
        (os.system, "true", "posix.system (os.system)"),
        (subprocess.Popen, "true", "subprocess.Popen"),
        (eval, "1", "builtins.eval"),
        (__import__, "os", "builtins.__import__"),
        (open, "marker", "io.open"),
        (pickle.loads, b"", "pickle.loads"),
        (np.load, "a.npy", "numpy.load"),
        (torch.load, "a.pt", "torch.serialization.load"),
    ],
    ids=["system", "Popen", "eval", "import", "open", "loads", "numpy.load", "torch.load"],
)
def test_a_file_that_calls_a_function_is_refused_by_its_name(
    tmp_path: Path, function: Any, argument: object, name: str
) -> None:
    path, found = held(tmp_path, made.Calls(function, argument))
    if name.startswith("torch."):
        # torch's own names are torch's to refuse, and it does.
        with pytest.raises(pickle.UnpicklingError, match=name):
            torch.load(path, weights_only=True)
        return
    assert code_that_would_run(found) == (name,)
    error = refusal(path, found, plain=False)
    assert error is not None
    assert name in error.what
    assert "--trust-pickle" in str(error.hint)


@pytest.mark.parametrize("value", [np.float64(1), Path("a"), {1, 2}, range(3), torch.zeros(2).numpy()])
def test_a_file_that_makes_harmless_values_is_not(tmp_path: Path, value: Any) -> None:
    path, found = held(tmp_path, value)
    assert refusal(path, found, plain=False) is None
    assert unread(found) == ()


def test_every_harmless_name_is_one_of_a_known_package() -> None:
    packages = {name.partition(".")[0] for name in HARMLESS}
    assert packages <= {"builtins", "collections", "decimal", "fractions", "argparse", "types", "uuid", "datetime",
                        "pathlib", "functools", "re", "copyreg", "numpy", "_codecs"}  # fmt: skip


def test_shards_of_a_distributed_run_are_told(tmp_path: Path) -> None:
    found = Outline({}, {"torch.distributed.tensor.DTensor": Seen()})
    error = refusal(tmp_path / "shard.pt", found, plain=False)
    assert error is not None
    assert "shards" in error.what
    assert "full_state_dict=True" in str(error.hint)


def test_a_plain_pickle_is_described_without_being_read(tmp_path: Path) -> None:
    path = made.plain_pickle(tmp_path)
    error = refusal(path, outline(path), plain=True)
    assert error is not None
    assert "plain pickle" in error.what
    assert "'hidden.weight'" in str(error.got)
    assert "would run code: torch.storage._load_from_bytes" in str(error.got)


def test_a_whole_module_names_its_class_and_both_ways_on(tmp_path: Path) -> None:
    path = made.whole_module(tmp_path)
    error = whole_module(path, outline(path))
    assert error is not None
    assert f"class {made.NETS_MODULE}.Net" in error.what
    assert f"--arch {made.NETS_MODULE}:Net" in str(error.hint)
    assert "--trust-pickle" in str(error.hint)
    path = made.state_dict(tmp_path)
    assert whole_module(path, outline(path)) is None
