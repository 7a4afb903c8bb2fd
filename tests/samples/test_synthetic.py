"""Synthetic samples fit their signature, and look like what their inputs are named after."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from parity.arrays import Array
from parity.models.signature import parse_signature
from parity.samples.spectra import AUDIO_SLOPE, IMAGE_SLOPE, coloured
from parity.samples.synthetic import SYNTHETIC_COUNT, synthetic_samples

SIGNATURES = [
    "x: float32[N, 3, T in 1..9]",
    "x: int64[N, T in 4..128 step 4] in 5..7",
    "x: bool[N, 4]",
    "x: complex64[N]",
    "x: uint8[N, H step 32, 2]",
    "x: float32[]",
    "x: int32[3] in -5..-2",
    "image: float32[N, 3, H in 1..40, W in 1..40]",
    "image: uint8[N, 24, 24, 3]",
    "frames: float32[N, T in 1..4, 3, 27, 48] in 0..1",
    "pixel_values: float16[N, 3, 32, 32] in -1..1",
    "waveform: float32[N, 1, T in 1..16000]",
    "audio: float64[N, 512]",
    "mask: float32[N, 1, T in 0..5]",
    "lengths: int64[N] in 1..9",
    "length: int32[N, 1]",
    "position_ids: int64[N, T in 1..64] in 0..31",
]


def made(*specs: str, seed: int = 0) -> list[Any]:
    signature = parse_signature(specs)
    samples = list(synthetic_samples(signature, seed))
    for index, sample in enumerate(samples):
        signature.check(sample, f"sample {index}")
    return samples


@pytest.mark.parametrize("text", SIGNATURES)
def test_samples_fit_their_signature(text: str) -> None:
    samples = made(text)
    assert len(samples) == SYNTHETIC_COUNT
    (spec,) = parse_signature(text).inputs
    for array in itertools.chain.from_iterable(sample.values() for sample in samples):
        assert np.isfinite(array).all()
        if spec.low is not None and spec.high is not None and array.size:
            assert array.min() >= float(spec.low)
            assert array.max() <= float(spec.high)


def test_a_free_dimension_takes_several_sizes_with_both_ends() -> None:
    sizes = {sample["x"].shape[0] for sample in made("x: float32[N, T in 2..30]")}
    assert {2, 30} <= sizes
    assert len(sizes) > 2


def test_samples_are_the_same_for_a_seed_and_differ_from_each_other() -> None:
    one, again, other = (made("image: float32[N, 3, 8, 8]", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[3]["image"], again[3]["image"])
    assert not np.array_equal(one[3]["image"], other[3]["image"])
    assert not np.array_equal(one[3]["image"], one[4]["image"])


def slope(images: Array) -> float:
    """Of the logarithm of the power over that of the distance from the origin, [n, H, W] averaged over n and angle."""
    power = (np.abs(np.fft.fft2(images)) ** 2).mean(axis=0)
    height, width = power.shape
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None])
    edges = np.geomspace(2 / min(height, width), 0.5, 12)
    bands = [(radius >= low) & (radius < high) for low, high in itertools.pairwise(edges)]
    points = [(np.log(radius[band].mean()), np.log(power[band].mean())) for band in bands if band.any()]
    radii, powers = np.transpose(points)
    return float(np.polyfit(radii, powers, 1)[0])


IMAGES = {
    "channels first": ("x: float32[N, 3, 64, 64]", lambda x: x[0]),
    "not square": ("x: float32[N, 1, 48, 96]", lambda x: x[0]),
    "channels last": ("image: float32[N, 64, 64, 3]", lambda x: x[..., 1]),
    "within a range": ("image: float32[N, 3, 64, 64] in 0..1", lambda x: x[2]),
    "bytes": ("image: uint8[N, 3, 64, 64]", lambda x: x[0].astype(float)),
    "frames": ("frames: float32[N, 8, 3, 64, 64]", lambda x: x[3, 0]),
    "grey without an axis for it": ("image: float32[N, 64, 64]", lambda x: x),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_have_the_spectrum_of_natural_ones(name: str) -> None:
    spec, plane = IMAGES[name]
    found = slope(np.stack([plane(next(iter(sample.values()))) for sample in made(spec)]))
    assert found == pytest.approx(-IMAGE_SLOPE, abs=0.25)


def test_frames_follow_each_other() -> None:
    frames = np.stack([sample["frames"] for sample in made("frames: float32[N, 4, 3, 16, 16]")])
    assert np.corrcoef(frames[:, 1].ravel(), frames[:, 2].ravel())[0, 1] > 0.85


def test_white_noise_does_not_have_it() -> None:
    assert slope(np.random.default_rng(0).standard_normal((64, 64, 64))) == pytest.approx(0, abs=0.1)


def test_images_have_mean_0_and_spread_1_over_all_of_them_and_differ_in_both() -> None:
    images = np.stack([sample["image"] for sample in made("image: float32[N, 3, 32, 32]")])
    assert abs(images.mean()) < 0.2
    assert images.std() == pytest.approx(1, abs=0.15)
    assert images.mean(axis=(1, 2, 3)).std() > 0.2
    assert images.std(axis=(1, 2, 3)).std() > 0.1


def test_colours_of_a_pixel_go_together() -> None:
    images = np.stack([sample["image"] for sample in made("image: float32[N, 3, 32, 32]")])
    red, _, blue = (images[:, channel].reshape(len(images), -1) for channel in range(3))
    correlation = np.mean([np.corrcoef(*pair)[0, 1] for pair in zip(red, blue, strict=True)])
    assert 0.8 < correlation < 0.97


def test_bytes_of_an_image_use_their_range() -> None:
    images = np.stack([sample["image"] for sample in made("image: uint8[N, 3, 32, 32]")])
    assert images.min() < 10
    assert images.max() > 245


@pytest.mark.parametrize("spec", ["x: float32[N, 2048]", "audio: float32[N, 1, 2048]", "x: float32[N, 2, T in 2048..]"])
def test_sounds_have_more_power_at_low_frequencies(spec: str) -> None:
    rows = [np.atleast_2d(next(iter(sample.values())))[0][:2048] for sample in made(spec)]
    power = (np.abs(np.fft.rfft(rows)) ** 2).mean(axis=0)
    frequencies = np.arange(8, 1000)
    assert np.polyfit(np.log(frequencies), np.log(power[frequencies]), 1)[0] == pytest.approx(-AUDIO_SLOPE, abs=0.3)


def test_features_are_no_sound() -> None:
    rows = np.stack([sample["x"] for sample in made("x: float32[N, 40]")])
    assert abs(np.mean(rows[:, 1:] * rows[:, :-1])) < 0.1


@pytest.mark.parametrize(("shape", "axes"), [((1, 1), (0, 1)), ((3,), (0,)), ((1, 16), (1,))])
def test_what_is_too_small_for_a_spectrum_is_no_constant(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    drawn = [coloured(np.random.default_rng(seed), shape, axes, 2) for seed in range(9)]
    assert np.std(drawn) > 0.3


def test_tokens_are_many_small_ones_and_few_large_ones() -> None:
    tokens = np.concatenate([sample["ids"].ravel() for sample in made("ids: int64[N, 512] in 100..30099")]) - 100
    share = [np.mean(tokens < 30), np.mean(tokens >= 15000)]
    assert share == [pytest.approx(np.log(31) / np.log(30001), abs=0.02), pytest.approx(0.067, abs=0.01)]
    assert tokens.min() == 0


def test_few_integers_are_all_alike_and_all_there() -> None:
    values = [int(v) for sample in made("x: int64[N, 8] in 5..7") for v in sample["x"]]
    assert {5, 6, 7} == set(values)
    assert np.bincount(values)[5:].min() > len(values) / 4


def test_masks_are_ones_then_zeros_and_agree_with_lengths_and_each_other() -> None:
    samples = made(
        "input_ids: int64[N, T in 1..20] in 0..99", "attention_mask: int64[N, T] in 0..1", "bool_mask: bool[N, 1, T]",
        "src_key_padding_mask: bool[N, T]", "lengths: int64[N] in 1..T", "token_type_ids: int64[N, T] in 0..1",
        "position_ids: int64[N, T] in 0..511",
    )  # fmt: skip
    for sample in samples:
        mask, size, length = sample["attention_mask"], len(sample["input_ids"]), int(sample["lengths"])
        assert mask.tolist() == [1] * length + [0] * (size - length)
        assert sample["bool_mask"].tolist() == [mask.astype(bool).tolist()]
        assert sample["src_key_padding_mask"].tolist() == (mask == 0).tolist()
        assert sample["position_ids"].tolist() == list(range(size))
        segments = sample["token_type_ids"].tolist()
        assert segments[0] == 0
        assert (np.diff(segments[:length]) >= 0).all()
        assert sum(segments[length:]) == 0
    assert len({int(sample["lengths"]) for sample in samples}) > 5
    assert any(1 in sample["token_type_ids"] for sample in samples)


def test_lengths_of_a_fixed_size_agree_with_the_mask_of_that_size() -> None:
    for sample in made("x: float32[N, 12, 4]", "x_mask: bool[N, 12]", "x_lengths: int64[N]"):
        assert sample["x_mask"].sum() == sample["x_lengths"]


def test_an_integer_bounded_by_a_dimension_stays_within_it() -> None:
    for sample in made("x: float32[N, T in 1..6]", "n: int64[N] in 1..T"):
        assert 1 <= int(sample["n"]) <= sample["x"].shape[0]
