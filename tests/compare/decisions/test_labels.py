"""Labels that cannot be right are told, and labels that fit are not."""

from __future__ import annotations

import numpy as np

from parity.compare.decisions.labels import label_remarks
from parity.records import OutputFacts

SCORES = OutputFacts(name="logits", dtype="float32", shape=(4, 10), batched=True, decision="classes")
CHOSEN = OutputFacts(name="best", dtype="int64", shape=(4,), batched=True, decision="classes")
PIXELS = OutputFacts(name="maps", dtype="float32", shape=(4, 21, 8, 8), batched=True, decision="segmentation")
YES = OutputFacts(name="speech", dtype="float32", shape=(4, 1), batched=True, decision="binary")
PLAIN = OutputFacts(name="features", dtype="float32", shape=(4, 7), batched=True, decision="none")


def test_labels_of_the_classes_that_there_are_need_no_word() -> None:
    assert label_remarks([SCORES, PLAIN], np.arange(10)) == ()
    assert label_remarks([SCORES], None) == ()
    assert label_remarks([CHOSEN], np.array([400, 3])) == ()
    assert label_remarks([YES], np.array([0, 1])) == label_remarks([YES], np.array([[0], [1]])) == ()
    assert label_remarks([PIXELS], np.full((2, 8, 8), 255)) == ()


def test_labels_that_count_from_one_are_told() -> None:
    (said,) = label_remarks([SCORES], np.arange(1, 11))
    assert said.startswith("labels: 1 of 10 are none of 0..9, the classes of 'logits'")
    assert said.endswith(": 10; they count from 1, perhaps")


def test_the_same_is_told_of_yes_and_no_and_of_tokens() -> None:
    (said,) = label_remarks([YES], np.array([1, 2, 2]))
    assert said == (
        "labels: 2 of 3 are none of 0..1, the classes of 'speech', so that no answer to them is right: 2; "
        "they count from 1, perhaps"
    )
    tokens = OutputFacts(name="words", dtype="float32", shape=(4, 6, 9), batched=True, decision="tokens")
    assert label_remarks([tokens], np.array([[0, 8, -100]])) == ()
    (said,) = label_remarks([tokens], np.array([[0, 9, -100]]))
    assert said.startswith("labels: 1 of 3 are none of 0..8, the classes of 'words'")


def test_labels_of_other_classes_are_told_with_a_few_of_them() -> None:
    (said,) = label_remarks([SCORES], np.array([0, -100, 40, 40, 50, 60]))
    assert said.startswith("labels: 5 of 6 are none of 0..9")
    assert said.endswith(": -100, 40, 50, ...")


def test_labels_of_another_form_than_every_output_are_told() -> None:
    (said,) = label_remarks([SCORES, PIXELS], np.zeros((4, 3), int))
    assert said.startswith("labels: int64[4, 3] fit the decision of no output")
    assert said.endswith("'logits' (classes), 'maps' (segmentation)")
    (said,) = label_remarks([PLAIN], np.zeros(4, int))
    assert said.endswith("none that labels could be of")
