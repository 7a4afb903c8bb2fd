from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from parity.arrays import Array
from parity.compare.decisions import class_axis, compare_decisions, needed_for, wilson
from parity.records import DecisionFinding, OutputFacts
from tests.compare.cases import Case, case, store


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (1, 5), (5, 5), (97, 100), (540, 540), (1, 10_000)])
def test_the_interval_is_the_one_that_scipy_computes(successes: int, n: int) -> None:
    expected = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_holds_the_share_lies_within_zero_and_one_and_narrows() -> None:
    for n in (1, 7, 100, 10_000):
        for share in np.linspace(0, 1, 11):
            low, high = wilson(share * n, n)
            assert 0 <= low <= share <= high <= 1
    widths = [high - low for low, high in (wilson(0.9 * n, n) for n in (10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("share", "limit"), [(1.0, 0.98), (0.99, 0.98), (0.9, 0.98), (0.8, 0.98), (0.981, 0.98)])
def test_as_many_decisions_as_are_needed_do_decide_and_half_do_not(share: float, limit: float) -> None:
    def decides(n: float) -> bool:
        low, high = wilson(share * n, n)
        return low >= limit or high < limit

    needed = needed_for(share, limit)
    assert needed is not None
    assert decides(needed)
    assert not decides(needed / 2)


def test_a_share_at_the_limit_is_never_decided() -> None:
    assert needed_for(0.98, 0.98) is None


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((8, 10), 1), ((8, 21, 4, 4), 1), ((8, 5, 7), 2), ((8,), None), ((8, 1), None), ((), None), ((8, 5, 1), None)],
)
def test_the_axis_that_scores_classes(shape: tuple[int, ...], axis: int | None) -> None:
    assert class_axis(OutputFacts(name="y", dtype="float32", shape=shape, batched=bool(shape))) == axis


@pytest.mark.parametrize(
    ("dtype", "batched"), [("int64", True), ("bool", True), ("complex64", True), ("float32", False)]
)
def test_what_scores_no_classes(dtype: str, *, batched: bool) -> None:
    assert class_axis(OutputFacts(name="y", dtype=dtype, shape=(8, 10), batched=batched)) is None


def decisions(made: Case, *target: Array, labels: Array | None = None) -> dict[str, DecisionFinding]:
    outputs = store(made.folder, {f"h{number}": {"y": array} for number, array in enumerate(target)})
    found = compare_decisions(outputs, made.arrays.eager, made.yardsticks, made.calls, labels)
    return {each.metric: each for each in found}


def scores(*winners: int, classes: int = 3, margin: float = 1.0) -> Array:
    made = np.zeros((len(winners), classes), np.float32)
    made[np.arange(len(winners)), winners] = margin
    return made


def test_equal_decisions_agree_whatever_the_scores(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2), scores(1, 1)])
    found = decisions(made, scores(0, 1, 2, margin=9), scores(1, 1, margin=0.1))["top1_agreement"]
    assert (found.value, found.flips, found.ties, found.n) == (1.0, 0, 0, 5)
    assert (found.low, found.high) == pytest.approx(wilson(5, 5))


def test_a_changed_decision_is_a_flip(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2, 0)])
    found = decisions(made, scores(0, 1, 1, 0))["top1_agreement"]
    assert (found.value, found.flips, found.ties) == (0.75, 1, 0)
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))


def test_a_change_between_scores_closer_than_the_floor_is_a_tie_and_agrees(tmp_path: Path) -> None:
    exact = np.asarray([[1.0, 1.0 + 1e-5, 0.0], [0.0, 3.0, 1.0]])
    eager = exact.astype(np.float32)
    eager[1, 1] += np.float32(1e-3)
    made = case(tmp_path, [eager], [exact])
    target = eager.copy()
    target[0] = [1.0 + 2e-5, 1.0, 0.0]
    found = decisions(made, target)["top1_agreement"]
    assert (found.value, found.flips, found.ties) == (1.0, 0, 1)


def test_every_pixel_and_every_token_is_a_decision(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for shape, axis in (((4, 5, 6, 6), 1), ((4, 7, 5), 2)):
        eager = rng.standard_normal(shape).astype(np.float32)
        target = eager.copy()
        target[1] = -target[1]
        found = decisions(case(tmp_path, [eager]), target)["top1_agreement"]
        count = eager.size // shape[axis]
        changed = int((np.argmax(eager, axis) != np.argmax(target, axis)).sum())
        assert found.n == count
        assert found.flips == changed
        assert found.value == pytest.approx(1 - changed / count)


def test_decisions_within_one_sample_count_for_less_where_they_err_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    eager = rng.standard_normal((20, 3, 10, 10)).astype(np.float32)
    together, scattered = eager.copy(), eager.copy()
    together[0] = np.roll(together[0], 1, axis=0)
    pixels = rng.choice(2000, 100, replace=False)
    flat = scattered.transpose(0, 2, 3, 1).reshape(-1, 3)
    flat[pixels] = np.roll(flat[pixels], 1, axis=1)
    scattered = flat.reshape(20, 10, 10, 3).transpose(0, 3, 1, 2)
    made = case(tmp_path, [eager])
    clustered, spread = (decisions(made, each)["top1_agreement"] for each in (together, scattered))
    assert clustered.value == spread.value == 0.95
    assert (clustered.low, clustered.high) == pytest.approx(wilson(19, 20))
    assert spread.low is not None
    assert spread.low > 0.93


def test_accuracy_is_counted_for_target_and_reference(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2), scores(0)])
    found = decisions(made, scores(0, 1, 1), scores(0), labels=np.asarray([0, 1, 2, 1]))["accuracy"]
    assert (found.value, found.reference, found.n) == (0.5, 0.75, 4)


def test_labels_belong_to_samples_and_not_to_pixels(tmp_path: Path) -> None:
    eager = np.random.default_rng(0).standard_normal((4, 3, 2, 2)).astype(np.float32)
    assert set(decisions(case(tmp_path, [eager]), eager, labels=np.zeros(4, int))) == {"top1_agreement"}


def test_where_shapes_differ_there_is_no_decision_to_compare(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(0, 1, 2)])
    assert decisions(made, scores(0, 1, 2, classes=4)) == {}
    assert decisions(made) == {}


def test_a_constant_reference_decides_nothing(tmp_path: Path) -> None:
    made = case(tmp_path, [scores(1, 1, 1)])
    assert decisions(made, scores(1, 1, 1)) == {}
