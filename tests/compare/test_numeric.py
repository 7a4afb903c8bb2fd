"""Each disagreement that matters is found, and each difference that does not is let through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parity.arrays import Array
from parity.compare.numeric import compare_held_out, own_noise
from tests.compare.cases import Case, case, eager, exact, rounded, store, swept

SHAPES = [(8, 10), (8, 1), (5, 3, 4, 2), (3, 7, 2)]


def float_case(folder: Path, shape: tuple[int, ...] = (8, 10), scale: float = 1.0, dtype: str = "float32") -> Case:
    rng = np.random.default_rng(0)
    exact = rng.standard_normal(shape) * scale
    return case(folder, [rounded(exact, dtype, rng)], [exact])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_a_target_equal_to_the_reference_is_within_one_floor(
    tmp_path: Path, shape: tuple[int, ...], scale: float
) -> None:
    made = float_case(tmp_path, shape, scale)
    found = made.finding(eager(made))
    assert found.ratio is not None
    assert found.ratio <= 1
    assert found.max_abs == 0
    assert found.n == shape[0]


@pytest.mark.parametrize("seed", range(5))
def test_other_rounding_of_the_same_function_is_within_a_few_floors(tmp_path: Path, seed: int) -> None:
    made = float_case(tmp_path)
    found = made.finding(rounded(exact(made), "float32", np.random.default_rng(100 + seed)))
    assert found.ratio is not None
    assert found.ratio < 3


@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1.0, 1e8])
def test_zeros_for_any_signal_are_off_by_the_whole_signal(tmp_path: Path, scale: float) -> None:
    made = float_case(tmp_path, scale=scale)
    found = made.finding(np.zeros_like(eager(made)))
    assert found.error is not None
    assert found.error >= 1 - 1e-6
    assert found.ratio is not None
    assert found.ratio > 1e5


def test_the_scale_of_the_output_does_not_change_a_ratio(tmp_path: Path) -> None:
    ratios = []
    for power in (-40, 0, 30):
        made = float_case(tmp_path, scale=2.0**power)
        ratios.append(made.finding(eager(made) * np.float32(1 + 2**-15)).ratio)
    assert ratios[1:] == pytest.approx(ratios[:-1])


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64"])
def test_every_float_dtype_is_judged_in_its_own_rounding(tmp_path: Path, dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((6, 5)) + (1j * rng.standard_normal((6, 5)) if dtype == "complex64" else 0)
    made = case(tmp_path, [values.astype(dtype)], [values])
    healthy, broken = made.finding(values.astype(dtype)), made.finding((values * 1.1).astype(dtype))
    assert healthy.ratio is not None
    assert broken.ratio is not None
    assert healthy.ratio <= 1
    assert broken.ratio > 50


def test_a_fault_in_one_small_sample_is_seen_beside_large_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((8, 10))
    values[5] *= 1e-6
    made = case(tmp_path, [rounded(values, "float32", rng)], [values])
    target = eager(made)
    target[5] *= np.float32(1.01)
    found = made.finding(target)
    assert found.ratio is not None
    assert found.ratio > 1000
    assert (found.measure, found.worst_sample) in {("rms/sample", 5), ("max/sample", 5)}


def test_the_worst_sample_is_named_by_its_number_over_all_calls(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((count, 4)) for count in (3, 2, 4)]
    made = case(tmp_path, [rounded(each, "float32", rng) for each in values], values)
    target = [eager(made, f"h{number}") for number in range(3)]
    target[2][1] += np.float32(0.1)
    found = made.finding(*target)
    assert (found.worst_sample, found.n) == (3 + 2 + 1, 9)
    assert found.max_abs == pytest.approx(0.1, rel=1e-3)


def test_an_error_over_the_allowance_counts_before_a_larger_ratio_within_it(tmp_path: Path) -> None:
    """The most floors may belong to a measure whose error long sums explain, while another's is unexplained."""
    rng = np.random.default_rng(0)
    values = rng.uniform(1, 2, (4, 1000))
    reference = values.astype(np.float32)
    reference[0, 0] += np.float32(2e-5)
    made = case(tmp_path, [reference], [values], longest=1_000_000)
    target = reference.copy()
    target += rng.choice([-1, 1], values.shape).astype(np.float32) * np.float32(3e-5)
    target[1, 1] += np.float32(4e-4)
    found = made.finding(target)
    assert found.allowance is not None
    assert found.error is not None
    assert found.error > found.allowance


def test_a_reference_that_lost_half_of_its_digits_is_named_and_so_is_a_target_that_far_from_it(
    tmp_path: Path,
) -> None:
    exact = np.linspace(0.5, 1.0, 40).reshape(8, 5)
    eager = exact.astype(np.float32)
    eager[3, 2] += np.float32(3e-3)
    made = case(tmp_path, [eager], [exact])
    same, other = made.finding(eager), made.finding(exact.astype(np.float32))
    assert same.good_to == pytest.approx(3e-3, rel=1e-3)
    assert same.apart is None, "it is eager, digit by digit"
    assert other.apart == pytest.approx(3e-3, rel=1e-3), "closer to the oracle, and not what eager returns"


def test_a_well_conditioned_reference_is_not_named_whatever_the_target(tmp_path: Path) -> None:
    exact = np.linspace(0.5, 1.0, 40).reshape(8, 5)
    found = case(tmp_path, [exact.astype(np.float32)], [exact]).finding(exact.astype(np.float32) + np.float32(0.1))
    assert (found.good_to, found.apart) == (None, None)


def test_the_signal_to_noise_ratio_is_ten_times_the_logarithm_of_power(tmp_path: Path) -> None:
    values = np.asarray([[3.0, 4.0], [1.0, 2.0]])
    made = case(tmp_path, [values.astype(np.float32)], [values])
    assert made.finding((values * 1.1).astype(np.float32)).sqnr_db == pytest.approx(20, abs=1e-3)
    assert made.finding(values.astype(np.float32)).sqnr_db is None


@pytest.mark.parametrize("view", ["transposed", "backwards", "fortran"])
def test_the_memory_layout_of_a_target_does_not_matter(tmp_path: Path, view: str) -> None:
    made = float_case(tmp_path, (6, 5, 4))
    plain = eager(made) * np.float32(1.001)
    turned = {
        "transposed": plain.transpose(2, 1, 0).copy().transpose(2, 1, 0),
        "backwards": plain[::-1, ::-1].copy()[::-1, ::-1],
        "fortran": np.asfortranarray(plain),
    }[view]
    assert made.finding(turned) == made.finding(plain)


def structural(made: Case, target: Array, rule: str) -> str:
    found = made.finding(target)
    assert found.rule == rule
    assert found.ratio is None
    assert found.detail is not None
    return found.detail


def test_another_dtype_is_a_disagreement_even_with_equal_numbers(tmp_path: Path) -> None:
    made = float_case(tmp_path)
    assert structural(made, eager(made).astype(np.float64), "dtype") == "float64, not float32"


def test_another_shape_is_a_disagreement_even_with_equal_numbers(tmp_path: Path) -> None:
    made = float_case(tmp_path, (8, 1))
    assert structural(made, eager(made)[:, 0], "rank") == "[8], not [8, 1], for a call of 8"
    assert structural(made, eager(made)[:5], "shape") == "[5, 1], not [8, 1], for a call of 8"


def test_missing_and_extra_outputs_are_findings_by_name(tmp_path: Path) -> None:
    made = float_case(tmp_path)
    found = {each.output: each for each in made.findings({"h0": {"z": eager(made)}})}
    assert (found["y"].rule, found["y"].detail) == ("missing", "the target returned z")
    assert (found["z"].rule, found["z"].detail) == ("extra", "the reference returns only y")
    (nothing,) = made.findings({"h0": {}})
    assert (nothing.rule, nothing.detail) == ("missing", "the target returned nothing")


def with_at(array: Array, place: tuple[int, ...], value: float) -> Array:
    changed = np.array(array)
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("reference", "target", "agree"),
    [
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (-np.inf, -np.inf, True),
        (np.inf, -np.inf, False),
        (np.nan, np.inf, False),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
        (1.0, np.inf, False),
        (np.inf, 3e38, False),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_nan_and_infinity_belong_where_the_reference_has_them(
    tmp_path: Path, reference: float, target: float, dtype: str, *, agree: bool
) -> None:
    values = np.random.default_rng(0).standard_normal((4, 6)).astype(dtype)
    ours, theirs = with_at(values, (2, 3), reference), with_at(values, (2, 3), target)
    found = case(tmp_path, [ours]).finding(theirs)
    if agree:
        assert found.ratio is not None
        assert found.ratio <= 1
    else:
        assert (found.rule, found.mismatched, found.worst_sample) == ("nonfinite", 1, 2)


def test_an_error_beside_a_nan_is_still_measured(tmp_path: Path) -> None:
    values = with_at(np.random.default_rng(0).standard_normal((4, 6)), (0, 0), np.nan).astype(np.float32)
    found = case(tmp_path, [values]).finding(values * np.float32(1.01))
    assert found.ratio is not None
    assert found.ratio > 1000


def test_a_scalar_output_is_compared(tmp_path: Path) -> None:
    values = [np.asarray(each, np.float32) for each in (1.0, 2.0)]
    made = case(tmp_path, values, batched=False)
    healthy, broken = made.finding(*values), made.finding(values[0], np.asarray(2.1, np.float32))
    assert (healthy.ratio, healthy.n) == (0, 2)
    assert broken.ratio is not None
    assert broken.ratio > 1000
    assert broken.worst_sample == 1
    assert made.finding(values[0], np.asarray(np.nan, np.float32)).rule == "nonfinite"


@pytest.mark.parametrize(("shape", "batched"), [((3, 0), True), ((0, 4), False), ((0,), False)])
def test_an_output_without_numbers_is_equal_and_constant(
    tmp_path: Path, shape: tuple[int, ...], *, batched: bool
) -> None:
    for dtype in ("float32", "int64"):
        empty = np.zeros(shape, dtype)
        found = case(tmp_path, [empty], batched=batched).finding(empty)
        assert found.constant
        assert not found.ratio
        assert not found.mismatched


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
def test_integers_and_booleans_are_counted_where_they_differ(tmp_path: Path, dtype: str) -> None:
    values = np.random.default_rng(0).integers(0, 2, (5, 4)).astype(dtype)
    made = case(tmp_path, [values[:3], values[3:]])
    healthy = made.finding(values[:3], values[3:])
    assert (healthy.rule, healthy.mismatched, healthy.n) == ("exact", 0, 5)
    changed = values.copy()
    changed[4, :2] = 1 - changed[4, :2] if dtype != "bool" else ~changed[4, :2]
    found = made.finding(changed[:3], changed[3:])
    assert (found.mismatched, found.max_abs, found.worst_sample) == (2, 1, 4)


def test_unsigned_differences_do_not_wrap_around(tmp_path: Path) -> None:
    found = case(tmp_path, [np.asarray([[1], [2]], np.uint8)]).finding(np.asarray([[1], [0]], np.uint8))
    assert found.max_abs == 2


def test_a_large_integer_that_is_off_by_one_is_off(tmp_path: Path) -> None:
    big = np.asarray([[2**60], [1]])
    found = case(tmp_path, [big]).finding(np.add(big, [[1], [0]]))
    assert (found.mismatched, found.max_abs) == (1, 1)


def test_an_integer_scalar_is_compared(tmp_path: Path) -> None:
    made = case(tmp_path, [np.asarray(3), np.asarray(4)], batched=False)
    assert made.finding(np.asarray(3), np.asarray(4)).mismatched == 0
    assert made.finding(np.asarray(3), np.asarray(5)).mismatched == 1


def test_the_noise_of_a_quantized_target_is_what_its_sweep_is_held_against(tmp_path: Path) -> None:
    made = swept(tmp_path)
    rng = np.random.default_rng(5)

    def noisy(call: str, amount: float) -> Array:
        array = eager(made, call)
        noise: Array = np.add(array, amount * rng.uniform(-1, 1, array.shape)).astype(np.float32)
        return noise

    healthy = {call: {"y": noisy(call, 0.05)} for call in ("h0", "s1", "s2")} | {"s3": {"y": noisy("s3", 5.0)}}
    target = store(tmp_path, healthy)
    own = own_noise(target, made.arrays, made.yardsticks, made.calls)
    found = Case(tmp_path, made.calls, made.facts, made.arrays, own).sweep(healthy)
    ratios = [each.ratio or 0.0 for each in found]
    assert max(ratios[:2]) < 10
    assert ratios[2] > 10
    assert min(own["y"].floors) > max(made.yardsticks["y"].floors)


def test_own_noise_never_lies_below_the_references_floor(tmp_path: Path) -> None:
    made = swept(tmp_path)
    own = own_noise(
        store(tmp_path, {"h0": {"y": exact(made).astype(np.float32)}}), made.arrays, made.yardsticks, made.calls
    )
    assert all(np.greater_equal(own["y"].floors, made.yardsticks["y"].floors))
    nothing = own_noise(store(tmp_path, {}), made.arrays, made.yardsticks, made.calls)
    assert nothing == made.yardsticks


def test_an_output_that_no_held_out_call_returns_has_no_finding(tmp_path: Path) -> None:
    made = swept(tmp_path)
    arrays = {f"h{0}": {"y": eager(made)}, **{f"s{n}": {"y": eager(made, f"s{n}")} for n in (1, 2, 3)}}
    made.arrays.eager = store(tmp_path, {**arrays, "h0": {}})
    assert compare_held_out(store(tmp_path, {"h0": {}}), made.arrays, made.yardsticks, made.calls) == ()
