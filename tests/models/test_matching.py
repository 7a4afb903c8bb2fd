"""Ports are matched by name, then by shape and dtype, then by position, and what could be exchanged is said."""

from __future__ import annotations

import pytest

from parity.models.matching import NAME, POSITION, SHAPE, SIMILAR, doubt, match_ports, told
from parity.models.ports import Port, signature_ports
from parity.models.signature import parse_signature

SPECS = ("input_ids: int64[N, T]", "attention_mask: int64[N, T]", "image: float32[N, 3, 8, 8]")
TOKENS = signature_ports(parse_signature(SPECS))


def pairs(own: list[Port], wanted: tuple[Port, ...] = TOKENS) -> dict[str, tuple[str, str]]:
    return {pair.own: (pair.name, pair.rule) for pair in match_ports(own, wanted).pairs}


def named(*names: str) -> list[Port]:
    return [Port(name) for name in names]


def test_a_name_of_the_models_own_counts_in_any_order_and_whatever_its_shape_is() -> None:
    found = pairs([Port("image", "int64", (1,)), *named("attention_mask", "input_ids")])
    assert found == {name: (name, NAME) for name in ("image", "attention_mask", "input_ids")}


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("input_ids:0", "input_ids"), ("InputIds", "input_ids"), ("input.ids", "input_ids"),
        ("serving_default_attention_mask:0", "attention_mask"), ("image.1", "image"), ("image_input", "image"),
        ("l_image_", "image"),
    ],
)  # fmt: skip
def test_what_converters_put_around_a_name_does_not_hide_it(own: str, name: str) -> None:
    assert pairs(named(own)) == {own: (name, SIMILAR)}


def test_two_that_are_both_similar_to_a_name_are_not_taken_for_it() -> None:
    wanted = (Port("x"), Port("y"))
    matching = match_ports(named("x.1", "x.2"), wanted)
    assert {pair.rule for pair in matching.pairs} == {POSITION}


def test_names_that_only_look_alike_are_told_apart_by_all_of_their_letters_first() -> None:
    wanted = (Port("x1"), Port("x2"))
    assert pairs(named("x.2", "x.1"), wanted) == {"x.2": ("x2", SIMILAR), "x.1": ("x1", SIMILAR)}


def test_a_similar_name_of_another_dtype_is_not_taken_for_it() -> None:
    matching = match_ports([Port("image_out", "int64", (None, 2))], (Port("image", "float32"), Port("n", "int64")))
    assert [(pair.name, pair.rule) for pair in matching.pairs] == [("n", SHAPE)]


def test_what_is_alone_with_its_dtype_and_sizes_is_found_by_them() -> None:
    own = [Port("a", "float32", (None, 3, 8, 8)), Port("b", "int64", (None, None)), Port("attention_mask")]
    assert pairs(own) == {
        "a": ("image", SHAPE), "b": ("input_ids", SHAPE), "attention_mask": ("attention_mask", NAME)
    }  # fmt: skip


def test_a_match_may_leave_another_one_alone() -> None:
    wanted = (Port("p", "float32", (None, 3)), Port("q", "float32", (None, 4)))
    own = [Port("b", "float32", (None, 4)), Port("a", "float32", (None, None))]
    assert pairs(own, wanted) == {"a": ("p", SHAPE), "b": ("q", SHAPE)}


def test_exact_dtypes_tell_apart_what_kinds_do_not() -> None:
    wanted = (Port("p", "int64", (None,)), Port("q", "int32", (None,)))
    assert pairs([Port("a", "int32", (None,)), Port("b", "int64", (None,))], wanted)["a"] == ("q", SHAPE)


def test_what_nothing_tells_apart_goes_by_position_and_is_doubtful() -> None:
    own = [Port("a", "int64", (None, None)), Port("b", "int64", (None, None)), Port("image")]
    matching = match_ports(own, TOKENS)
    assert [(pair.own, pair.name) for pair in matching.doubtful] == [("a", "input_ids"), ("b", "attention_mask")]
    assert doubt(matching, "inputs") == (
        "the inputs 'a', 'b' were taken for 'input_ids', 'attention_mask' by position alone: neither names nor shapes "
        "tell them apart"
    )
    assert told(matching) == "matched by position: a is input_ids, b is attention_mask"


def test_the_only_one_that_is_left_is_not_doubtful() -> None:
    matching = match_ports(named("input.1"), (Port("x"),))
    assert (matching.pairs[0].rule, matching.doubtful) == (POSITION, ())
    assert doubt(matching, "inputs") is None


def test_what_cannot_be_matched_is_left_over_on_both_sides() -> None:
    matching = match_ports(named("a", "b"), TOKENS)
    assert [port.name for port in matching.extra] == ["a", "b"]
    assert matching.missing == ("input_ids", "attention_mask", "image")


def test_what_may_be_left_out_makes_room_for_the_rest() -> None:
    own = [Port("a"), Port("scale", optional=True)]
    matching = match_ports(own, (Port("x"),))
    assert [(pair.own, pair.name) for pair in matching.pairs] == [("a", "x")]
    assert [port.name for port in matching.extra] == ["scale"]


def test_names_that_are_all_the_models_need_no_words() -> None:
    assert told(match_ports(named("x"), (Port("x"),))) is None
