"""What an output stands for is what was given, else what its name, shape or values say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.kinds import decided
from parity.errors import UsageError
from parity.records import OutputFacts, ReferenceFacts
from parity.samples.calls import Call
from tests.compare.cases import store


def kinds(
    folder: Path, outputs: dict[str, Array], given: tuple[tuple[str, str], ...] = (), *, batched: bool = True
) -> dict[str, tuple[str | None, str | None]]:
    facts = ReferenceFacts(
        oracle="float64",
        outputs=tuple(
            OutputFacts(name=name, dtype=each.dtype.name, shape=each.shape, batched=batched and bool(each.ndim))
            for name, each in outputs.items()
        ),
        longest_reduction=1,
        jittered_copies=0,
        seconds=0.0,
        threads=1,
    )
    made = decided(facts, store(folder, {"h0": outputs}), (Call("h0", tuple(range(8))),), given)
    return {each.name: (each.decision, each.decision_from) for each in made.outputs}


def drawn(*shape: int, dtype: str = "float32") -> Array:
    made: Array = (np.random.default_rng(0).standard_normal(shape) * 10).astype(dtype)
    return made


@pytest.mark.parametrize(
    ("name", "array", "expected"),
    [
        ("output", drawn(8, 10), ("classes", "shapes")),
        ("output", drawn(8, dtype="int64"), ("classes", "shapes")),
        ("output", drawn(8, 3, 5, 5), ("segmentation", "shapes")),
        ("output", drawn(8, 5, 5, dtype="int64"), ("segmentation", "shapes")),
        ("output", drawn(8, 6, 9), ("tokens", "shapes")),
        ("output", drawn(8, 6, dtype="int32"), ("tokens", "shapes")),
        ("output", drawn(8, 6).astype(bool), ("tokens", "shapes")),
        ("output", drawn(8, 1), ("none", "shapes")),
        ("output", drawn(8), ("none", "shapes")),
        ("output", drawn(8, 1, 5, 5), ("none", "shapes")),
        ("output", drawn(8, 10, dtype="complex64"), ("none", "shapes")),
        ("output", np.float32(1) * np.ones(()), ("none", "shapes")),
        ("pooler_output", drawn(8, 10), ("embedding", "names")),
        ("out.last_hidden_state", drawn(8, 6, 9), ("embedding", "names")),
        ("features", drawn(8, 3, 5, 5), ("none", "names")),
    ],
)  # fmt: skip
def test_an_output_is_inferred_from_its_name_else_from_its_shape(
    tmp_path: Path, name: str, array: Array, expected: tuple[str, str]
) -> None:
    assert kinds(tmp_path, {name: array})[name] == expected


def test_vectors_of_unit_norm_are_embeddings_and_probabilities_are_not(tmp_path: Path) -> None:
    plain = np.random.default_rng(0).standard_normal((8, 5))
    unit = (plain / np.linalg.norm(plain, axis=1, keepdims=True)).astype(np.float32)
    certain = np.eye(5, dtype=np.float32)[[0, 1, 2, 3, 4, 0, 1, 2]]
    assert kinds(tmp_path, {"y": unit})["y"] == ("embedding", "values")
    assert kinds(tmp_path, {"y": certain})["y"] == ("classes", "shapes")


def softmax(scores: Array, axis: int) -> Array:
    raised = np.exp(np.asarray(scores, np.float64) / 10)
    made: Array = raised / raised.sum(axis=axis, keepdims=True)
    return made.astype(np.float32)


def test_beside_probabilities_other_numbers_are_no_scores(tmp_path: Path) -> None:
    outputs = {
        "output_0": drawn(8, 4), "output_1": drawn(8, 10), "output_2": softmax(drawn(8, 2), -1),
        "map": softmax(drawn(8, 3, 5, 5), 1), "offsets": drawn(8, 4, 5, 5), "chosen": drawn(8, dtype="int64"),
    }  # fmt: skip
    found = {name: kind for name, (kind, _) in kinds(tmp_path, outputs).items()}
    assert found == {
        "output_0": "none", "output_1": "none", "output_2": "classes",
        "map": "segmentation", "offsets": "none", "chosen": "classes",
    }  # fmt: skip
    assert kinds(tmp_path, outputs, (("output_0", "classes"),))["output_0"] == ("classes", "given")


def test_scores_of_two_heads_are_both_decisions(tmp_path: Path) -> None:
    found = kinds(tmp_path, {"shape": drawn(8, 4), "colour": drawn(8, 10)})
    assert found == {"shape": ("classes", "shapes"), "colour": ("classes", "shapes")}


def test_an_output_without_a_batch_axis_stands_for_nothing(tmp_path: Path) -> None:
    assert kinds(tmp_path, {"y": drawn(8, 10)}, batched=False)["y"] == ("none", "shapes")


def test_boxes_with_scores_or_labels_beside_them_are_detections(tmp_path: Path) -> None:
    outputs = {"boxes": drawn(7, 4), "scores": drawn(7), "logits": drawn(8, 3)}
    found = kinds(tmp_path, outputs)
    assert found["boxes"] == found["scores"] == ("detection", "names and shapes")
    assert found["logits"] == ("classes", "shapes")


def test_what_is_given_comes_before_what_is_inferred(tmp_path: Path) -> None:
    outputs = {"a": drawn(8, 10), "b": drawn(8, 6, 9), "c": drawn(8)}
    assert kinds(tmp_path, outputs, (("a", "embedding"),)) == {
        "a": ("embedding", "given"), "b": ("tokens", "shapes"), "c": ("none", "shapes")
    }  # fmt: skip
    every = kinds(tmp_path, outputs, (("*", "embedding"), ("b", "none")))
    assert every == {"a": ("embedding", "given"), "b": ("none", "given"), "c": ("none", "shapes")}
    detections = {"boxes": drawn(7, 4), "scores": drawn(7)}
    assert set(kinds(tmp_path, detections, (("*", "none"),)).values()) == {("none", "given")}


def test_a_kind_for_an_output_that_does_not_exist_offers_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'logit', which the model does not return") as error:
        kinds(tmp_path, {"logits": drawn(8, 10)}, (("logit", "classes"),))
    assert "did you mean 'logits'?" in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [((("y", "segmentation"),), "does not fit the output 'y'"), ((("*", "detection"),), "'detection' fits no output")],
)
def test_a_kind_that_does_not_fit_is_refused_with_what_would(
    tmp_path: Path, given: tuple[tuple[str, str], ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as error:
        kinds(tmp_path, {"y": drawn(8, 10)}, given)
    assert "float32[8, 10]" in str(error.value)


def test_scores_with_a_threshold_are_binary_where_that_is_said(tmp_path: Path) -> None:
    outputs = {"score": drawn(8), "column": drawn(8, 1), "mask": drawn(8, 1, 5, 5), "state": drawn(8, 2, 7)}
    assert {kind for kind, _ in kinds(tmp_path, outputs).values()} == {"none", "tokens"}
    every = kinds(tmp_path, outputs, (("*", "binary"),))
    assert {name for name, (kind, _) in every.items() if kind == "binary"} == {"score", "column", "mask"}
    assert kinds(tmp_path, outputs, (("state", "binary"),))["state"] == ("binary", "given")
    with pytest.raises(UsageError, match="does not fit the output 'chosen'"):
        kinds(tmp_path, {"chosen": drawn(8, dtype="int64")}, (("chosen", "binary"),))
