"""The fixed rules that other tools compare an export to eager by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from parity.arrays import Array

Agrees = Callable[[Array, Array], bool]
"""Whether one output, target then eager, is accepted."""

COSINE = 0.997
DECIMALS = 3


def _within(relative: float, absolute: float) -> Agrees:
    def agrees(target: Array, eager: Array) -> bool:
        return bool(np.allclose(target, eager, rtol=relative, atol=absolute, equal_nan=True))

    return agrees


def _torch_defaults(target: Array, eager: Array) -> bool:
    """Whether `torch.testing.assert_close` accepts it: 1.3e-6 and 1e-5 for float32."""
    try:
        torch.testing.assert_close(torch.from_numpy(np.array(target)), torch.from_numpy(np.array(eager)))
    except AssertionError:
        return False
    return True


def _decimals(target: Array, eager: Array) -> bool:
    try:
        np.testing.assert_almost_equal(np.asarray(target, np.float64), np.asarray(eager, np.float64), decimal=DECIMALS)
    except AssertionError:
        return False
    return True


def _cosine(target: Array, eager: Array) -> bool:
    """Whether every sample's output points where eager's does, each flattened, in float64."""
    one, other = (array.reshape(len(array), -1).astype(np.float64) for array in (target, eager))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return bool(((one * other).sum(axis=1) / lengths > COSINE).all())


RULES: Mapping[str, Agrees] = {
    "torch.testing.assert_close, defaults (rtol 1.3e-6, atol 1e-5)": _torch_defaults,
    "elementwise, rtol 1e-5, atol 1e-5": _within(1e-5, 1e-5),
    "elementwise, rtol 1e-3, atol 1e-4": _within(1e-3, 1e-4),
    "three decimals": _decimals,
    "cosine above 0.997": _cosine,
}


def refusals(target: Mapping[str, Mapping[str, Array]], eager: Mapping[str, Mapping[str, Array]]) -> dict[str, bool]:
    """By rule, whether any output of any call is refused."""
    return {name: any(not _same(agrees, target[call], eager[call]) for call in eager) for name, agrees in RULES.items()}


def _same(agrees: Agrees, target: Mapping[str, Array], eager: Mapping[str, Array]) -> bool:
    return all(
        name in target and target[name].shape == array.shape and agrees(target[name], array)
        for name, array in eager.items()
    )
