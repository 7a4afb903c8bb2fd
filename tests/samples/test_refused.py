"""A signature that allows what the model cannot do is told so, with what to write instead."""

from __future__ import annotations

from parity.models.signature import parse_signature
from parity.samples.calls import Call
from parity.samples.refused import refused_notes

SIGNATURE = parse_signature("x: float32[N, T in 1..64]")
CALLS = [Call(f"t{n}", (0,) * batch, sweep=batch, sizes=(("T", size),)) for n, (batch, size) in enumerate(
    (batch, size) for size in (1, 2, 7, 64) for batch in (1, 3)
)]  # fmt: skip


def refused(**sizes: int) -> dict[Call, str]:
    """Every call in which a symbol has that size."""
    named = [(call, {"N": len(call.samples), **dict(call.sizes)}) for call in CALLS]
    return {call: "ValueError: too short\nmore" for call, has in named if sizes.items() <= has.items()}


def test_the_size_at_which_every_call_fails_is_named_once_with_a_narrower_signature() -> None:
    assert refused_notes(CALLS, refused(T=1), SIGNATURE) == (
        "the model itself does not run at T=1: ValueError: too short: narrow the signature, e.g. `T in 2..64`",
    )
    assert "e.g. `T in 1..7`" in refused_notes(CALLS, refused(T=64), SIGNATURE)[0]
    assert "at N=1: " in refused_notes(CALLS, refused(N=1), SIGNATURE)[0]
    assert "e.g. `N in 3..`" in refused_notes(CALLS, refused(N=1), SIGNATURE)[0]


def test_a_combination_that_fails_is_named_as_one() -> None:
    (note,) = refused_notes(CALLS, refused(T=7, N=3), SIGNATURE)
    assert note == "the model itself does not run at N=3, T=7: ValueError: too short: narrow the signature"


def test_a_size_in_the_middle_is_named_without_a_range_that_would_hide_more() -> None:
    (note,) = refused_notes(CALLS, refused(T=7), SIGNATURE)
    assert note.endswith("at T=7: ValueError: too short: narrow the signature")


def test_nothing_refused_says_nothing() -> None:
    assert refused_notes(CALLS, {}, SIGNATURE) == ()
