"""Seeded weights under which every part of a network matters, as after training.

Fresh weights hide faults: a head of zeros, LayerScale at 1e-6 or a detection head near its prior make outputs
that hardly depend on the image, and fresh batch statistics let signals grow or vanish. The last normalisation of
a residual branch is kept weak, which is how training starts where its scale is zero at first (Goyal et al.,
"Accurate, large minibatch SGD", 2017, section 5.1): with random weights and scales near one a deep network
amplifies rounding tenfold and more, and small faults drown in that.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from parity.compare.structure import flatten

_NORMS = (nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)
_FAINT = 0.5
"""A layer whose weights are smaller than this share of what keeps the variance is drawn again."""

_BLOCKS = frozenset({"BasicBlock", "Bottleneck", "InvertedResidual", "MBConv", "ResBottleneckBlock"})
_BRANCHES = ("bn3", "bn2", "f", "conv", "block", "layers")
"""Where torchvision's residual blocks keep what ends with the branch's last normalisation."""

_SMALLEST_VARIATION = 0.02
"""Deviation over the images, in shares of the output's RMS, below which an output counts as dead."""


def live_weights(factory: str, images: NDArray[np.float32], seed: int) -> dict[str, torch.Tensor]:
    """State of the network with live layers, and batch statistics of the images.

    Args:
        factory: Reference `package.module:name` of what builds it.
        images: float32 [n, 3, H, W] that the batch statistics are taken from.
        seed: Of all weights.

    Raises:
        ValueError: an output hardly depends on the image all the same.
    """
    torch.manual_seed(seed)
    where, _, name = factory.partition(":")
    module: nn.Module = getattr(importlib.import_module(where), name)().eval()
    _enliven(module)
    with torch.no_grad():
        _take_statistics(module, torch.from_numpy(images))
        made: Mapping[str, torch.Tensor] = flatten(module(torch.from_numpy(images)))
    for output, values in made.items():
        variation = float(values.std(0).square().mean().sqrt() / values.square().mean().sqrt())
        if not variation > _SMALLEST_VARIATION:
            raise ValueError(f"{name}: {output} varies by {variation:.2g} of its RMS over the images")
    return {key: tensor.detach().clone().contiguous() for key, tensor in module.state_dict().items()}


def _enliven(module: nn.Module) -> None:
    normalised = any(isinstance(each, _NORMS) for each in module.modules())
    for each in module.modules():
        if isinstance(each, (nn.Conv2d, nn.Linear)):
            # Without normalisation, ReLU halves the variance at each layer: He's initialisation.
            wanted = math.sqrt((1 if normalised else 2) / each.weight[0].numel())
            if not normalised or float(each.weight.detach().std()) < _FAINT * wanted:
                nn.init.normal_(each.weight, std=wanted)
            if each.bias is not None:
                nn.init.normal_(each.bias, std=0.05)
        elif isinstance(each, _NORMS) and each.weight is not None:
            nn.init.uniform_(each.weight, 0.5, 1.5)
            nn.init.normal_(each.bias, std=0.5)
    _weaken_branches(module)
    for name, parameter in module.named_parameters():
        if name.endswith("layer_scale"):
            nn.init.uniform_(parameter, 0.2, 1.0)
        elif not parameter.detach().any():
            nn.init.normal_(parameter, std=0.05)


def _weaken_branches(module: nn.Module) -> None:
    for each in module.modules():
        if type(each).__name__ in _BLOCKS:
            branches = [getattr(each, name) for name in _BRANCHES if hasattr(each, name)]
            norms = [norm for branch in branches[:1] for norm in branch.modules() if isinstance(norm, nn.BatchNorm2d)]
            for last in norms[-1:]:
                nn.init.uniform_(last.weight, 0.1, 0.3)


def _take_statistics(module: nn.Module, images: torch.Tensor) -> None:
    """Mean and variance of every batch normalisation, from one pass in training mode."""
    batch_norms = [each for each in module.modules() if isinstance(each, nn.BatchNorm2d)]
    momenta = [each.momentum for each in batch_norms]
    for each in batch_norms:
        each.train().momentum = 1.0
    module(images)
    for each, momentum in zip(batch_norms, momenta, strict=True):
        each.eval().momentum = momentum
