"""Weights of another checkpoint are told from those that an optimizer has folded something into."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from parity.arrays import BFLOAT16, Array
from parity.compare.weights import compare_weights

Floats = npt.NDArray[np.float32]
RNG = np.random.default_rng(3)


def drawn(*shape: int) -> Floats:
    return RNG.standard_normal(shape).astype(np.float32)


def model() -> dict[str, Floats]:
    norms = {f"norm{place}.{part}": drawn(8) for place in (1, 2) for part in ("weight", "running_mean")}
    return {
        "conv1.weight": drawn(8, 3, 3, 3), "conv1.bias": drawn(8), "conv2.weight": drawn(8, 8, 3, 3),
        "conv2.bias": np.zeros(8, np.float32), "head.weight": drawn(4, 8), "head.bias": drawn(4), **norms,
    }  # fmt: skip


def folded(weights: dict[str, Floats], *layers: str) -> dict[str, Floats]:
    """As an optimizer leaves them: each output channel scaled, the bias another one, the normalisation gone."""
    found = {name: array for name, array in weights.items() if not name.startswith("norm")}
    for layer in layers:
        weight = weights[f"{layer}.weight"]
        scale = RNG.uniform(0.2, 3, len(weight)).astype(np.float32).reshape(-1, *[1] * (weight.ndim - 1))
        found[f"{layer}.weight"] = weight * scale
        found[f"{layer}.bias"] = drawn(len(weight))
    return found


def test_the_same_weights_are_the_same() -> None:
    ours = model()
    found = compare_weights(ours, ours)
    assert (found.compared, found.other, found.suspicious) == (9, (), False), "constants tell nothing"


def test_weights_of_another_checkpoint_are_all_named() -> None:
    ours, theirs = model(), model()
    found = compare_weights(theirs, ours)
    assert found.suspicious
    assert found.other[:5] == ("conv1.weight", "conv1.bias", "conv2.weight", "head.weight", "head.bias")


def test_a_normalisation_that_was_folded_into_its_layers_is_no_other_checkpoint() -> None:
    ours = model()
    found = compare_weights(folded(ours, "conv1", "conv2"), ours)
    assert (found.other, found.suspicious) == ((), False)


def test_more_scaled_layers_than_normalisations_that_have_gone_are_no_folding() -> None:
    ours = model()
    found = compare_weights({name: array * np.float32(-1.7) for name, array in ours.items()}, ours)
    assert found.suspicious, "nothing has gone: every normalisation is still there"
    found = compare_weights(folded(ours, "conv1", "conv2", "head"), ours)
    assert found.other[:2] == ("conv1.weight", "conv1.bias")
    assert found.suspicious


def test_another_checkpoint_is_seen_through_the_folding() -> None:
    ours = model()
    assert compare_weights(folded(model(), "conv1", "conv2"), ours).suspicious


def test_one_wrong_layer_is_no_other_checkpoint() -> None:
    ours = model()
    theirs = {**ours, "head.weight": drawn(4, 8), "head.bias": drawn(4)}
    found = compare_weights(theirs, ours)
    assert found.other == ("head.weight", "head.bias")
    assert not found.suspicious


def test_a_single_weight_that_differs_is_not_enough() -> None:
    ours = {"weight": drawn(4, 8)}
    assert not compare_weights({"weight": drawn(4, 8)}, ours).suspicious


def test_a_matrix_that_an_exporter_turned_round_is_the_same() -> None:
    ours = model()
    found = compare_weights({**ours, "head.weight": ours["head.weight"].T.copy()}, ours)
    assert found.other == ()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_that_were_rounded_are_the_same(dtype: str) -> None:
    ours = model()

    def rounded(array: Array) -> Array:
        if dtype == "float16":
            return array.astype(np.float16)
        bits = np.asarray(array, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        held: Array = bits.view(np.float32).view(BFLOAT16)
        return held

    assert compare_weights({name: rounded(array) for name, array in ours.items()}, ours).other == ()


def test_weights_of_other_names_and_shapes_are_passed_over() -> None:
    ours = model()
    theirs = {"onnx::Conv_12": drawn(8, 3, 3, 3), "head.weight": drawn(4, 9)}
    assert compare_weights(theirs, ours).compared == 0


def test_weights_beside_the_graph_are_suspected_although_those_within_it_are_the_models() -> None:
    ours = model()
    theirs = {**ours, "conv1.weight": drawn(8, 3, 3, 3), "conv2.weight": drawn(8, 8, 3, 3)}
    theirs |= {f"small{number}.weight": drawn(2, 2) for number in range(4)}
    ours = {**ours, **{name: array for name, array in theirs.items() if name.startswith("small")}}
    assert not compare_weights(theirs, ours).suspicious
    assert compare_weights(theirs, ours, beside={"conv1.weight", "conv2.weight"}).suspicious
