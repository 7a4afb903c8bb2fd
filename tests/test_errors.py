from __future__ import annotations

import pickle

import pytest

from parity import errors
from parity.errors import ParityError, SampleError, UnknownName, Unsupported, UsageError, did_you_mean


def test_an_error_prints_every_label_that_it_has_in_a_fixed_order() -> None:
    error = SampleError("the samples do not fit", where="a.npz", allowed="float32", got="int64", hint="parity init")
    assert str(error) == (
        "the samples do not fit\n  where:   a.npz\n  allowed: float32\n  got:     int64\n  next:    parity init"
    )


def test_labels_without_text_are_left_out() -> None:
    assert str(UsageError("no", got="x")) == "no\n  got:     x"
    assert str(UsageError("no")) == "no"


@pytest.mark.parametrize(
    "kind", [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ParityError)]
)
def test_every_error_crosses_to_another_process_whole(kind: type[ParityError]) -> None:
    error = kind("what", where="where", allowed="allowed", got="got", hint="hint")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # made a line above
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert (copy.what, copy.where, copy.allowed, copy.got, copy.hint) == ("what", "where", "allowed", "got", "hint")


def test_an_unknown_name_is_a_usage_error_and_unsupported_is_none() -> None:
    assert issubclass(UnknownName, UsageError)
    assert not issubclass(Unsupported, UsageError)


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("onx", ["onnx", "trace"], "did you mean 'onnx'?"),
        ("zzz", ["trace", "onnx"], "known: onnx, trace"),
        ("zzz", [], "none is registered"),
    ],
)
def test_did_you_mean(name: str, known: list[str], text: str) -> None:
    assert did_you_mean(name, known) == text


def test_a_name_that_is_near_none_is_answered_with_a_few_of_many() -> None:
    said = did_you_mean("-", [f"sample_{number:03}" for number in range(1000)])
    assert said.startswith("known: sample_000, ")
    assert said.endswith(" and 976 more")
