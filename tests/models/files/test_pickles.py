from __future__ import annotations

import collections
import dataclasses
import enum
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from parity.errors import ModelError
from parity.models.files.pickles import Outline, Thing, is_plain_pickle, outline, stand_ins
from parity.models.files.refusals import is_torchs_own
from tests.models.files import made, strangers

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Options:
    width: int = 8


class Attributes(dict[str, Any]):
    """A dictionary of its own class, as configurations are."""


class Rows(list[Any]):
    """A list of its own class."""


class Point(collections.namedtuple("Point", "x y")):  # noqa: PYI024, SLOT002  # as old code has them
    """A tuple of its own class."""


def pickled(tmp_path: Path, held: Any, protocol: int = 2) -> Outline:
    return outline(strangers.written(tmp_path, "held.pkl", pickle.dumps(held, protocol)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_a_pickle_calls_is_called(tmp_path: Path, protocol: int) -> None:
    marker = tmp_path / "marker"
    found = pickled(tmp_path, [1, made.Calls(os.system, f"touch {marker}"), made.Calls(marker.touch, 0o666)], protocol)
    assert not marker.exists()
    assert "posix.system" in found.called
    assert found.held[0] == 1


def test_what_a_pickle_asks_getattr_for_is_named(tmp_path: Path) -> None:
    found = pickled(tmp_path, made.Calls(Path.touch, tmp_path / "marker"))
    assert found.globals["builtins.getattr"].attributes == ["pathlib.Path.touch"]
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_keeps_its_class_and_its_state_unbuilt(tmp_path: Path, protocol: int) -> None:
    found = pickled(tmp_path, {"options": Options(4)}, protocol)
    thing = found.held["options"]
    assert isinstance(thing, Thing)
    assert thing.maker == f"{__name__}.Options"
    assert thing.state == {"width": 4}


def test_the_names_of_python_2_are_those_of_today(tmp_path: Path) -> None:
    path = strangers.written(tmp_path, "old.pkl", b"c__builtin__\nxrange\n(I0\nI3\ntR.")
    path.write_bytes(b"\x80\x02" + path.read_bytes())
    assert outline(path).called == ("builtins.range",)


def test_modules_are_found_where_they_lie_and_losses_are_none(tmp_path: Path) -> None:
    kind = f"{made.NETS_MODULE}.Net"
    assert outline(made.whole_module(tmp_path)).modules() == (("", kind),)
    assert outline(made.whole_in_dictionary(tmp_path)).modules() == (("model", kind),)
    torch.save({"ema": {"module": nn.Linear(1, 1)}, "loss": nn.CrossEntropyLoss()}, tmp_path / "nested.pt")
    assert outline(tmp_path / "nested.pt").modules() == (("ema.module", "torch.nn.modules.linear.Linear"),)
    assert outline(made.state_dict(tmp_path)).modules() == ()


def test_the_old_format_has_the_same_outline(tmp_path: Path) -> None:
    torch.save(nn.ReLU(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert outline(tmp_path / "old.pt").modules() == (("", "torch.nn.modules.activation.ReLU"),)


@pytest.mark.parametrize("data", [b"\x80\x02.", b"\x80\x02" + bytes(20), b"\x80\x02]", strangers.PICKLE_LIKE])
def test_a_damaged_pickle_is_a_model_error(tmp_path: Path, data: bytes) -> None:
    path = strangers.written(tmp_path, "damaged.pt", data)
    with pytest.raises(ModelError, match="damaged or truncated") as caught:
        outline(path)
    assert caught.value.where == str(path)


def test_a_plain_pickle_is_told_from_what_torch_saved(tmp_path: Path) -> None:
    assert is_plain_pickle(made.plain_pickle(tmp_path))
    assert not is_plain_pickle(made.legacy(tmp_path))
    assert not is_plain_pickle(made.state_dict(tmp_path))


BESIDE: dict[str, Any] = {
    "a NumPy number": np.float64(0.91), "an array": np.arange(3), "a dtype": np.dtype("f4"), "texts": np.array(["a"]),
    "a state of NumPy's random numbers": np.random.get_state(), "a generator": np.random.default_rng(0),  # noqa: NPY002
    "a class": np.float32, "an enum": Colour.RED, "a dataclass": Options(), "a configuration": Attributes(lr=0.1),
    "a list of its own class": Rows([1, 2]), "a named tuple": Point(1, 2), "a defaultdict":
    collections.defaultdict(list, {"a": [1]}), "a deque": collections.deque([1]), "a path": Path("runs"),
    "a function": torch.nn.functional.relu, "an optimizer": torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1),
    "a range": range(3), "a frozen set": frozenset({1}), "a loss": nn.CrossEntropyLoss(),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_torch_reads_the_weights_beside_anything_with_stand_ins_in_its_place(tmp_path: Path, name: str) -> None:
    path = tmp_path / "held.pt"
    torch.save({"w": torch.ones(2), "beside": BESIDE[name], "after": 3}, path)
    with torch.serialization.safe_globals(stand_ins(outline(path).globals, is_torchs_own)):
        read = torch.load(path, weights_only=True)
    assert torch.equal(read["w"], torch.ones(2))
    assert read["after"] == 3
    assert read["beside"] is not BESIDE[name]
    assert not isinstance(read["beside"], (np.generic, np.ndarray, nn.Module, enum.Enum, Options, Path, Attributes))


def test_stand_ins_are_taken_back(tmp_path: Path) -> None:
    made.with_config(tmp_path)
    before = set(torch.serialization.get_safe_globals())
    with torch.serialization.safe_globals(stand_ins(outline(tmp_path / "config.pt").globals, is_torchs_own)):
        assert set(torch.serialization.get_safe_globals()) > before
    assert set(torch.serialization.get_safe_globals()) == before
