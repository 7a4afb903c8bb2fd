"""A symbol that became a constant is named from the artifact itself; what is as dynamic as promised is let through."""

from __future__ import annotations

import pytest

from parity.artifacts import Bounds, Declared
from parity.compare.declared import CONSTANT_DIMENSION, compare_declared
from parity.models.signature import parse_signature
from parity.records import OutputFacts

SIGNATURE = parse_signature(["tokens: int64[N, T in 1..64]", "image: float32[N, 3, 8, 8]"])
OPEN: Bounds = (None, None)
IMAGE: tuple[Bounds, ...] = (OPEN, (3, 3), (8, 8), (8, 8))
OUTPUTS = (
    OutputFacts(name="logits", dtype="float32", shape=(2, 4), batched=True),
    OutputFacts(name="table", dtype="float32", shape=(2, 4), batched=False),
)


def found(
    tokens: tuple[Bounds, ...], outputs: dict[str, tuple[Bounds, ...]] | None = None
) -> list[tuple[str, str | None]]:
    declared = Declared({"tokens": tokens, "image": IMAGE}, outputs or {})
    return [(each.name, each.detail) for each in compare_declared(declared, SIGNATURE, OUTPUTS)]


def test_a_length_that_became_a_constant_is_named_with_its_input() -> None:
    assert found((OPEN, (7, 7))) == [("input tokens", "T became the constant 7")]
    assert found(((2, 2), (7, 7))) == [
        ("input tokens", "N became the constant 2"), ("input tokens", "T became the constant 7")
    ]  # fmt: skip


@pytest.mark.parametrize("bounds", [OPEN, (1, 64), (0, None), (2, None), (2, 64), (1, 100)])
def test_what_is_as_dynamic_as_the_signature_is_one_finding_without_a_fault(bounds: Bounds) -> None:
    assert found((OPEN, bounds)) == [("N, T", None)]


@pytest.mark.parametrize("bounds", [(2, 32), (None, 63), (4, 64), (4, None)])
def test_a_range_that_is_narrower_is_named_with_what_the_signature_allows(bounds: Bounds) -> None:
    ((name, detail),) = found((OPEN, bounds))
    assert name == "input tokens"
    assert detail is not None
    assert "and the signature allows T in 1..64" in detail


def test_the_batch_of_an_output_is_looked_at_and_what_has_no_batch_is_not() -> None:
    assert found((OPEN, OPEN), {"logits": ((2, 2), (4, 4)), "table": ((2, 2), (4, 4))}) == [
        ("output logits", "N became the constant 2")
    ]
    assert found((OPEN, OPEN), {"logits": (OPEN, (4, 4))}) == [("N, T", None)]


def test_inputs_of_other_names_are_matched_by_their_place() -> None:
    declared = Declared({"input_0": (OPEN, (7, 7)), "input_1": IMAGE}, {})
    (finding,) = compare_declared(declared, SIGNATURE, ())
    assert (finding.kind, finding.name) == (CONSTANT_DIMENSION, "input tokens")
    left_out = Declared({"image": IMAGE}, {})
    assert [each.detail for each in compare_declared(left_out, SIGNATURE, ())] == [None]


@pytest.mark.parametrize("spec", ["x: float32[2, 3]", "x: float32[N in 2..2, 3]"])
def test_a_constant_that_the_signature_has_too_is_no_finding(spec: str) -> None:
    assert compare_declared(Declared({"x": ((2, 2), (3, 3))}, {}), parse_signature(spec), ()) == ()


def test_an_artifact_that_declares_nothing_has_no_finding() -> None:
    assert compare_declared(None, SIGNATURE, OUTPUTS) == ()


def test_a_step_that_does_not_reach_the_bound_is_no_narrower_range() -> None:
    signature = parse_signature("x: float32[N, T in 1..35 step 4]")
    (finding,) = compare_declared(Declared({"x": (OPEN, (4, 32))}, {}), signature, ())
    assert finding.detail is None
