from __future__ import annotations

import datetime as dt
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from parity.errors import ModelError
from parity.models.files.checkpoint import load_weights, read_module, read_state
from parity.models.files.weights import STATE_KEYS
from tests.models.files import made
from tests.models.files.versioned import Versioned

RAN = Path("never-written-by-a-checkpoint")


class Opens:
    """What a hostile file holds: reading it with pickle writes a file."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return (Path.touch, (RAN,))


def net(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))


def weights_of(module: nn.Module) -> list[float]:
    return [float(value) for tensor in module.state_dict().values() for value in tensor.reshape(-1)]


def saved(path: Path, held: object, **options: Any) -> Path:
    torch.save(held, path, **options)
    return path


def test_a_state_dict_is_loaded_whole(tmp_path: Path) -> None:
    source, target = net(1), net(2)
    assert load_weights(target, saved(tmp_path / "w.pt", source.state_dict())) == ()
    assert weights_of(target) == weights_of(source)


@pytest.mark.parametrize("key", [None, "state_dict"])
def test_the_versions_that_a_state_dict_keeps_of_its_modules_go_with_it(tmp_path: Path, key: str | None) -> None:
    held = Versioned(3, 4).state_dict()
    path = saved(tmp_path / "w.pt", {key: held, "epoch": 3} if key else held)
    other = Versioned(3, 4)
    load_weights(other, path)
    assert torch.equal(other.weight, held["weight"])


def test_safetensors_and_the_old_pickle_format_are_read_as_well(tmp_path: Path) -> None:
    source = net(1)
    save_file(source.state_dict(), tmp_path / "w.safetensors")
    saved(tmp_path / "old.pth", source.state_dict(), _use_new_zipfile_serialization=False)
    for name in ("w.safetensors", "old.pth"):
        target = net(2)
        load_weights(target, tmp_path / name)
        assert weights_of(target) == weights_of(source)


@pytest.mark.parametrize("key", STATE_KEYS)
def test_weights_are_found_beside_what_training_keeps_and_the_reader_is_told(tmp_path: Path, key: str) -> None:
    source, target = net(1), net(2)
    notes = load_weights(target, saved(tmp_path / "w.pt", {"epoch": 3, key: source.state_dict()}))
    assert weights_of(target) == weights_of(source)
    assert notes == (f"weights taken from {key!r}; beside it: epoch",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: state.pop("0.bias"), "1 missing\n"),
        (lambda state: state.update({"2.bias": torch.zeros(1)}), "1 unexpected\n"),
        (
            lambda state: state.update({"0.weight": torch.zeros(4, 2)}),
            "0.weight [4, 3]  0.weight [4, 2]  another shape",
        ),
    ],
    ids=["missing", "unexpected", "shape"],
)
def test_a_checkpoint_that_does_not_fit_changes_nothing_in_the_model(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], says: str
) -> None:
    state = dict(net(1).state_dict())
    change(state)
    target = net(2)
    before = weights_of(target)
    with pytest.raises(ModelError) as caught:
        load_weights(target, saved(tmp_path / "w.pt", state))
    assert says in str(caught.value)
    assert weights_of(target) == before


def test_something_else_under_a_weights_name_is_a_model_error(tmp_path: Path) -> None:
    state = {**net(1).state_dict(), "0.bias": [1.0, 2.0]}
    with pytest.raises(ModelError, match="does not fit"):
        load_weights(net(2), saved(tmp_path / "w.pt", {"state_dict": state}))


def test_a_file_that_would_run_code_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, options in (("new.pt", {}), ("old.pt", {"_use_new_zipfile_serialization": False})):
        saved(tmp_path / name, {"w": torch.zeros(1), "hook": Opens()}, **options)
        with pytest.raises(ModelError, match="would run code"):
            read_state(tmp_path / name)
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(Opens(), protocol=2))
    with pytest.raises(ModelError):
        read_state(tmp_path / "plain.pkl")
    assert not RAN.exists()


def test_a_trusted_file_is_read_with_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "w.pt", {"w": torch.zeros(1), "hook": Opens()})
    assert "w" in read_state(tmp_path / "w.pt", trust_pickle=True).tensors
    assert RAN.exists()


@pytest.mark.parametrize("name", ["w.safetensors", "w.onnx", "w"])
def test_the_suffix_of_a_file_decides_nothing(tmp_path: Path, name: str) -> None:
    source, target = net(1), net(2)
    load_weights(target, saved(tmp_path / name, source.state_dict()))
    assert weights_of(target) == weights_of(source)
    save_file(source.state_dict(), tmp_path / "w.pt")
    load_weights(target, tmp_path / "w.pt")
    assert weights_of(target) == weights_of(source)


def test_weights_that_do_not_fit_say_where_they_were_taken_from(tmp_path: Path) -> None:
    held = {"encoder": {"a": torch.zeros(1)}, "decoder": {"b": torch.zeros(1)}}
    with pytest.raises(ModelError) as caught:
        load_weights(net(), saved(tmp_path / "w.pt", held))
    assert "weights taken from 'encoder'" in str(caught.value.got)
    assert "under 'decoder' as well" in str(caught.value.got)


@pytest.mark.parametrize("legacy", [False, True])
def test_one_number_of_numpy_beside_the_weights_refuses_nothing(tmp_path: Path, *, legacy: bool) -> None:
    source, target = net(1), net(2)
    held = {"state": source.state_dict(), "best": np.float64(0.91), "when": dt.date(2026, 1, 2)}
    path = saved(tmp_path / "w.pt", held, _use_new_zipfile_serialization=not legacy)
    (note,) = load_weights(target, path)
    assert note == "weights taken from 'state'; beside it: best, when"
    assert weights_of(target) == weights_of(source)


def test_a_whole_module_is_read_where_it_is_trusted_and_only_there(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", {"epoch": 3, "model": nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))})
    with pytest.raises(ModelError, match=r"whole pickled module of class torch\.nn\.modules\.container\.Sequential"):
        read_state(path)
    assert set(read_state(path, trust_pickle=True).tensors) == set(net().state_dict())
    module = read_module(path)
    assert isinstance(module, nn.Sequential)
    assert read_module(saved(tmp_path / "s.pt", net().state_dict())) is None


def test_weights_beside_a_whole_module_of_another_kind_need_no_trust(tmp_path: Path) -> None:
    held = {"state_dict": net(1).state_dict(), "loss": nn.CrossEntropyLoss(), "teacher": nn.Linear(1, 1)}
    notes = read_state(saved(tmp_path / "w.pt", held)).notes
    assert any("were not read" in note and "torch.nn.modules.loss.CrossEntropyLoss" in note for note in notes)


def test_tensors_beside_a_whole_module_are_not_its_weights(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="whole pickled module"):
        read_state(saved(tmp_path / "w.pt", {"model": nn.Linear(1, 1), "anchors": torch.zeros(3, 2)}))


def test_a_class_that_is_gone_names_the_module_to_install(tmp_path: Path) -> None:
    path = made.orphan(tmp_path)
    with pytest.raises(ModelError, match="package_that_is_gone") as caught:
        read_state(path, trust_pickle=True)
    assert "install the package of package_that_is_gone" in str(caught.value.hint)


def test_a_trusted_file_that_raises_says_what_it_raised(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", {"w": torch.zeros(1), "hook": made.Calls(int, "no number")})
    assert "w" in read_state(path, trust_pickle=True).tensors, "int is harmless, and its result is not needed"
    path = saved(tmp_path / "w.pt", {"w": torch.zeros(1), "hook": made.Calls(os.listdir, "/no/such/folder")})
    with pytest.raises(ModelError, match="raised FileNotFoundError"):
        read_state(path, trust_pickle=True)


def test_a_newer_pickle_protocol_is_refused_by_its_name_and_read_where_it_is_trusted(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", net(1).state_dict(), pickle_protocol=4)
    with pytest.raises(ModelError) as caught:
        read_state(path)
    assert "newer pickle protocol" in str(caught.value.got)
    assert weights_of(net(1)) == [
        float(v) for t in read_state(path, trust_pickle=True).tensors.values() for v in t.reshape(-1)
    ]


def broken(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / ("w.safetensors" if "safetensors" in kind else "w.pt")
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("these are not the weights that you are looking for")
    elif kind == "safetensors":
        path.write_bytes(b"\x08\0\0\0\0\0\0\0notjson!")
    elif kind == "truncated":
        whole = saved(tmp_path / "whole.pt", net().state_dict()).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    elif kind == "git lfs":
        path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    elif kind == "no weights":
        saved(path, {"epoch": 3})
    elif kind == "a list":
        saved(path, [1, 2])
    return path


@pytest.mark.parametrize(
    "kind", ["missing", "empty", "text", "safetensors", "truncated", "git lfs", "no weights", "a list"]
)
def test_whatever_is_wrong_with_a_file_is_a_model_error_that_names_it(tmp_path: Path, kind: str) -> None:
    path = broken(tmp_path, kind)
    with pytest.raises(ModelError) as caught:
        load_weights(net(), path)
    assert caught.value.where == str(path)


def test_a_torchscript_archive_is_told_from_a_checkpoint(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(nn.Linear(2, 2)), tmp_path / "w.pt")
    with pytest.raises(ModelError, match="a TorchScript archive") as caught:
        read_state(tmp_path / "w.pt")
    assert caught.value.hint is not None
    assert "--artifact" in caught.value.hint


def test_an_exported_program_is_told_from_a_checkpoint(tmp_path: Path) -> None:
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.zeros(2, 2),)), tmp_path / "w.pt2")
    with pytest.raises(ModelError, match="an ExportedProgram"):
        read_state(tmp_path / "w.pt2")


def test_weights_are_taken_from_the_place_that_fits_the_module(tmp_path: Path) -> None:
    wanted, other = net(), nn.Linear(7, 7)
    path = saved(tmp_path / "gan.pt", {"model": other.state_dict(), "G_ema": wanted.state_dict(), "iteration": 3})
    target = net()
    nn.init.zeros_(next(target.parameters()))
    notes = load_weights(target, path)
    assert torch.equal(next(target.parameters()), next(wanted.parameters()))
    assert "weights taken from 'G_ema'; beside it: model, iteration" in notes
    assert any("those under 'model' do not fit" in note for note in notes)


def test_weights_that_fit_no_place_are_refused_for_the_first(tmp_path: Path) -> None:
    path = saved(tmp_path / "w.pt", {"model": nn.Linear(7, 7).state_dict(), "other": nn.Linear(3, 5).state_dict()})
    with pytest.raises(ModelError, match="weights taken from 'model'"):
        load_weights(net(), path)


def test_parts_that_were_saved_apart_are_put_together(tmp_path: Path) -> None:
    whole = nn.ModuleDict({"encoder": nn.Linear(3, 4), "decoder": nn.Linear(4, 3)})
    path = saved(tmp_path / "parts.pt", {name: part.state_dict() for name, part in whole.items()} | {"epoch": 1})
    target = nn.ModuleDict({"encoder": nn.Linear(3, 4), "decoder": nn.Linear(4, 3)})
    notes = load_weights(target, path)
    assert weights_of(target) == weights_of(whole)
    assert "weights taken from 'encoder' and 'decoder' together; beside them: epoch" in notes


def test_weights_as_numpy_arrays_are_called_so(tmp_path: Path) -> None:
    path = saved(tmp_path / "arrays.pt", {key: value.numpy() for key, value in net().state_dict().items()})
    with pytest.raises(ModelError, match=r"NumPy arrays.*\n.*torch.from_numpy"):
        read_state(path)
    with pytest.raises(ModelError) as other:
        read_state(saved(tmp_path / "none.pt", {"epoch": 3}))
    assert "NumPy" not in str(other.value)
