from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.compare.decisions.statistics import wilson
from tests.compare.cases import case
from tests.compare.decisions.found import decisions

EAGER = np.random.default_rng(0).standard_normal((10, 6, 4)).astype(np.float32)


def test_healthy_tokens_and_sequences_agree(tmp_path: Path) -> None:
    found = decisions(case(tmp_path, [EAGER]), EAGER * np.float32(2))
    assert (found["token_agreement"].value, found["sequence_agreement"].value) == (1.0, 1.0)
    assert (found["token_agreement"].n, found["sequence_agreement"].n) == (60, 10)


def test_one_flip_costs_one_token_and_its_whole_sequence(tmp_path: Path) -> None:
    target = EAGER.copy()
    target[3, 2] = -target[3, 2]
    found = decisions(case(tmp_path, [EAGER]), target)
    assert found["token_agreement"].flips == 1
    assert found["token_agreement"].value == pytest.approx(59 / 60)
    sequences = found["sequence_agreement"]
    assert (sequences.flips, sequences.value) == (1, 0.9)
    assert (sequences.low, sequences.high) == pytest.approx(wilson(9, 10))


def test_sequences_of_integers_are_tokens(tmp_path: Path) -> None:
    eager = EAGER.argmax(-1)
    target = eager.copy()
    target[0, 0] = (target[0, 0] + 1) % 4
    made = case(tmp_path, [eager])
    assert decisions(made, eager)["token_agreement"].flips == 0
    assert decisions(made, target)["token_agreement"].flips == 1


def test_labels_of_tokens_say_how_many_fewer_are_right(tmp_path: Path) -> None:
    right = EAGER.argmax(-1)
    right[:, 5] = -100
    target = EAGER.copy()
    target[:2] = -target[:2]
    found = decisions(case(tmp_path, [EAGER]), target, labels=right)["token_accuracy_difference"]
    assert found.value == pytest.approx(-0.2)
    assert found.reference == 1.0
    assert found.n == 10
