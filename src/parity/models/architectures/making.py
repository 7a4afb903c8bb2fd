"""Templates made from the torchvision that is installed: every builder called on the meta device, several times."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from parity.models.architectures.templates import COUNTER, Shapes, Template, Term

QUANTIZED = "quantized_"
"""How torchvision's names of its quantizable twins begin."""

LEFT_OUT = {QUANTIZED: "its float weights have the keys and shapes of the network that it is the quantizable twin of"}
"""Beginnings of names that no template is made of, with the reason."""

VARIANTS: tuple[Mapping[str, Any], ...] = ({}, {"aux_logits": False}, {"aux_loss": True})
"""Flags that give a builder other keys. One that a builder does not take, or that changes none, makes no template."""

PROBES: Mapping[str, tuple[int, int, int]] = {
    "num_classes": (7, 11, 23),
    "num_keypoints": (5, 9, 14),
    "image_size": (224, 448, 672),
}
"""Arguments that change shapes alone, and three values of each: two fix a term, the third tells whether it is right.
The sizes of images are multiples of 14 and of 16, the patches of torchvision's transformers."""

_MADE = frozenset({torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn})
_POWERS = (1, 2)


class OnMeta(TorchFunctionMode):
    """Tensors that are filled by a rule or by chance have no data; computed ones do, since builders read them.

    `torch.device("meta")` alone breaks RegNet, which plans its widths with tensors.
    """

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        return function(*args, **(kwargs | {"device": "meta"} if function in _MADE else kwargs))


def without_data(name: str, **arguments: Any) -> nn.Module:
    """A torchvision architecture without data.

    Raises:
        TypeError: the builder does not take an argument.
    """
    from torchvision.models import get_model  # noqa: PLC0415  # optional, a second to import

    with OnMeta(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module: nn.Module = get_model(name, **(offline(name) | arguments))
    return module


def offline(name: str) -> dict[str, Any]:
    """Arguments that keep a builder from downloading, and from initializing for half a minute."""
    from torchvision.models import get_model_builder  # noqa: PLC0415

    taken = inspect.signature(get_model_builder(name)).parameters
    backbone = {"weights_backbone": None} if "weights_backbone" in taken else {}
    slow = {"init_weights": False} if name.removeprefix(QUANTIZED) in ("googlenet", "inception_v3") else {}
    return {"weights": None} | backbone | slow


def reason_left_out(name: str) -> str | None:
    """Why there is no template of a name, or None where there should be one."""
    return next((reason for beginning, reason in LEFT_OUT.items() if name.startswith(beginning)), None)


def make_templates(names: Iterable[str]) -> list[Template]:
    """The templates of several architectures, those of one name together."""
    return [template for name in names for template in make_template_variants(name)]


def make_template_variants(name: str) -> list[Template]:
    """The templates of one architecture: as it is built by default, and with each flag that gives it other keys."""
    found: list[Template] = []
    for flags in VARIANTS:
        default = _built(name, flags)
        if default is None or any(default.keys() == each.shapes.keys() for each in found):
            continue
        found.append(_template(name, flags, default))
    return found


def _built(name: str, arguments: Mapping[str, Any]) -> Shapes | None:
    try:
        module = without_data(name, **arguments)
    except (TypeError, NotImplementedError):  # the builder does not take an argument, or this value of it
        return None
    state = module.state_dict()
    return {key: tuple(value.shape) for key, value in state.items() if not key.endswith(COUNTER)}


def _template(name: str, flags: Mapping[str, Any], default: Shapes) -> Template:
    shapes: dict[str, list[int | Term]] = {key: list(shape) for key, shape in default.items()}
    defaults: dict[str, int] = {}
    for argument, values in PROBES.items():
        probed = [_built(name, {**flags, argument: value}) for value in values]
        if None in probed:
            continue
        for key, axis, sizes in _changes([each for each in probed if each is not None], name):
            term = _term(argument, values, sizes)
            value = term.solve(default[key][axis])
            if value is None or defaults.setdefault(argument, value) != value:
                raise ValueError(f"{name}: the default of {argument} cannot be told from {key}")
            shapes[key][axis] = term
    return Template(name, tuple(flags.items()), defaults, {key: tuple(dims) for key, dims in shapes.items()})


def _changes(probed: list[Shapes], name: str) -> Iterable[tuple[str, int, tuple[int, ...]]]:
    """Every dimension that is not the same in all of them: key, axis, and its sizes."""
    first = probed[0]
    if any(each.keys() != first.keys() for each in probed):
        raise ValueError(f"{name}: its keys depend on a number")
    for key, shape in first.items():
        for axis in range(len(shape)):
            sizes = tuple(each[key][axis] for each in probed)
            if len(set(sizes)) > 1:
                yield key, axis, sizes


def _term(argument: str, values: tuple[int, int, int], sizes: tuple[int, ...]) -> Term:
    for power in _POWERS:
        x, y, z = (value**power for value in values)
        scale = Fraction(sizes[1] - sizes[0], y - x)
        offset = sizes[0] - scale * x
        if offset.denominator == 1 and scale * z + offset == sizes[2]:
            return Term(argument, power, scale, int(offset))
    raise ValueError(f"no term in {argument} gives the sizes {sizes}")
