"""Model files of every kind, each made by what writes such files."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import importlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.hidden = nn.Linear(6, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.hidden(x)))
"""
"""A file with a small network."""

NETS = f"""{NET}

class Config:
    width = 8


def net():
    return Net().eval()
"""

NETS_MODULE = "nets_of_made_files"
"""The module that defines the network: written into the folder, imported from there."""


class Calls:
    """Pickled, it calls a function with an argument as soon as it is read."""

    def __init__(self, function: Callable[..., Any], argument: object) -> None:
        self.call = (function, (argument,))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self.call


@contextlib.contextmanager
def nets(folder: Path) -> Iterator[Any]:
    """The module with the network, importable while the block runs."""
    (folder / f"{NETS_MODULE}.py").write_text(NETS)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(NETS_MODULE)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(NETS_MODULE, None)


def _net(folder: Path) -> nn.Module:
    with nets(folder) as module:
        net: nn.Module = module.Net().eval()
        return net


def _saved(held: Any, path: Path, **options: Any) -> Path:
    torch.save(held, path, **options)
    return path


def state_dict(folder: Path, name: str = "net.pt", **options: Any) -> Path:
    """`torch.save(model.state_dict(), …)`."""
    return _saved(_net(folder).state_dict(), folder / name, **options)


def legacy(folder: Path) -> Path:
    """The format of before torch 1.6."""
    return state_dict(folder, "old.pth.tar", _use_new_zipfile_serialization=False)


def safetensors(folder: Path, name: str = "net.safetensors") -> Path:
    """`safetensors.torch.save_file`."""
    save_file(_net(folder).state_dict(), folder / name)
    return folder / name


def among_others(folder: Path) -> Path:
    """Weights among all that a training script keeps."""
    net = _net(folder)
    optimizer = torch.optim.Adam(net.parameters())
    sum(parameter.sum() for parameter in net.parameters()).backward()  # type: ignore[union-attr]  # parameters add up
    optimizer.step()
    held = {
        "epoch": 3, "best": np.float64(0.91), "losses": np.arange(3.0), "args": argparse.Namespace(lr=0.1),
        "saved": dt.datetime.now(dt.timezone.utc), "folder": folder, "optimizer": optimizer.state_dict(),
        "model_state_dict": net.state_dict(),
    }  # fmt: skip
    return _saved(held, folder / "last.ckpt")


def averaged(folder: Path) -> Path:
    """Weights and their average, which lies one level deeper."""
    held = {"ema": {"module": _net(folder).state_dict(), "decay": 0.999}, "model": _net(folder).state_dict()}
    return _saved(held, folder / "ema.pt")


def with_config(folder: Path) -> Path:
    """An object of a class of the project beside the weights."""
    with nets(folder) as module:
        return _saved({"state_dict": module.Net().state_dict(), "config": module.Config()}, folder / "config.pt")


def prefixed(folder: Path, prefix: str = "module._orig_mod.") -> Path:
    """What DataParallel and `torch.compile` make of the names."""
    return _saved({prefix + key: value for key, value in _net(folder).state_dict().items()}, folder / "wrapped.pt")


def half(folder: Path) -> Path:
    """`model.half()` before it was saved."""
    return _saved(_net(folder).half().state_dict(), folder / "half.pt")


def infinite(folder: Path) -> Path:
    """A training run that diverged."""
    state = _net(folder).state_dict()
    state["head.bias"][0] = torch.nan
    return _saved(state, folder / "nan.pt")


def headless(folder: Path) -> Path:
    """The last layer left out."""
    state = _net(folder).state_dict()
    return _saved({key: value for key, value in state.items() if "head" not in key}, folder / "headless.pt")


def misnamed(folder: Path) -> Path:
    """One layer named otherwise and one of another size."""
    state = _net(folder).state_dict()
    state["heat.weight"] = state.pop("head.weight")
    state["hidden.bias"] = torch.zeros(9)
    return _saved(state, folder / "misnamed.pt")


def squeezenet(folder: Path) -> Path:
    """A small network of torchvision's, with another number of classes."""
    torch.manual_seed(0)
    made = importlib.import_module("torchvision.models").squeezenet1_1(num_classes=7)
    return _saved(made.state_dict(), folder / "seven.pt")


def optimizer_only(folder: Path) -> Path:
    """`optimizer.state_dict()` saved by mistake."""
    return _saved(torch.optim.SGD(_net(folder).parameters(), lr=0.1).state_dict(), folder / "optimizer.pt")


def weightless(folder: Path) -> Path:
    """Numbers and no tensor."""
    return _saved({"epoch": 3, "best": 0.9}, folder / "numbers.pt")


def on_meta(folder: Path) -> Path:
    """A model on the meta device."""
    return _saved(_net(folder).to("meta").state_dict(), folder / "meta.pt")


def whole_module(folder: Path, name: str = "whole.pt") -> Path:
    """`torch.save(model, …)`."""
    with nets(folder) as module:
        return _saved(module.Net().eval(), folder / name)


def whole_in_dictionary(folder: Path) -> Path:
    """`{"model": model, "epoch": 3}`."""
    with nets(folder) as module:
        return _saved({"epoch": 3, "model": module.Net().eval()}, folder / "last.pt")


def orphan(folder: Path) -> Path:
    """A whole module whose class is nowhere any more."""
    aside = folder / "aside"
    aside.mkdir(exist_ok=True)
    with nets(aside) as module:
        module.Net.__module__ = "package_that_is_gone.nets"
        gone = type(sys)("package_that_is_gone.nets")
        gone.Net = module.Net  # type: ignore[attr-defined]  # for the pickle to find
        sys.modules["package_that_is_gone.nets"] = sys.modules["package_that_is_gone"] = gone
        try:
            return _saved(module.Net(), folder / "orphan.pt")
        finally:
            del sys.modules["package_that_is_gone.nets"], sys.modules["package_that_is_gone"]


def runs_system(folder: Path) -> Path:
    """A checkpoint that runs a command when it is read."""
    held = {"state_dict": _net(folder).state_dict(), "hook": Calls(os.system, f"touch {folder / 'marker'}")}
    return _saved(held, folder / "runs-a-command.pt")


def runs_method(folder: Path) -> Path:
    """The same by a method, in the old format."""
    held = {"state_dict": _net(folder).state_dict(), "hook": Calls(Path.touch, folder / "marker")}
    return _saved(held, folder / "runs-a-method.pt", _use_new_zipfile_serialization=False)


def plain_pickle(folder: Path) -> Path:
    """`pickle.dump(model.state_dict(), …)`."""
    path = folder / "net.pkl"
    path.write_bytes(pickle.dumps(dict(_net(folder).state_dict())))
    return path


def torchscript(folder: Path) -> Path:
    """`torch.jit.save(torch.jit.script(model), …)`."""
    with nets(folder) as module, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(module.Net().eval()), folder / "scripted.pt")
    return folder / "scripted.pt"


def exported_program(folder: Path) -> Path:
    """`torch.export.save` with a dynamic batch."""
    batch = torch.export.Dim("N", min=1)
    program = torch.export.export(_net(folder), (torch.zeros(2, 6),), dynamic_shapes=({0: batch},))
    torch.export.save(program, folder / "program.pt2")
    return folder / "program.pt2"


def onnx(folder: Path, name: str = "net.onnx") -> Path:
    """`torch.onnx.export`."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(_net(folder), (torch.zeros(2, 6),), str(folder / name), dynamo=False, input_names=["x"],
                          dynamic_axes={"x": {0: "N"}}, opset_version=17)  # fmt: skip
    return folder / name
