from __future__ import annotations

import pytest

from parity.models.files.keys import fit_names, prefixes_alike, strip_prefixes

KNOWN = ("conv.weight", "conv.bias", "head.weight", "head.bias")


def prefixed(prefix: str) -> list[str]:
    return [prefix + key for key in KNOWN]


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "model.", "net.", "backbone.", "module._orig_mod.", "_orig_mod.module.model.",
               "some.name.of.ones.own."]
)  # fmt: skip
def test_a_prefix_that_all_keys_have_is_removed(prefix: str) -> None:
    assert strip_prefixes(prefixed(prefix), KNOWN) == prefix
    found = fit_names(prefixed(prefix), KNOWN)
    assert tuple(found.names.values()) == KNOWN
    assert found.notes == (f"the prefix {prefix!r} was removed from 4 keys",)


def test_keys_that_fit_keep_their_names() -> None:
    assert strip_prefixes(KNOWN, KNOWN) is None
    assert fit_names(KNOWN, KNOWN).notes == ()


def test_a_prefix_that_belongs_to_the_module_is_left() -> None:
    known = prefixed("model.")
    assert strip_prefixes(known, known) is None
    assert strip_prefixes([f"module.{key}" for key in known], known) == "module."


def test_keys_of_others_do_not_keep_a_prefix_on_the_weights() -> None:
    keys = [*prefixed("model."), "loss.weight"]
    assert strip_prefixes(keys, KNOWN) == "model."
    assert fit_names(keys, KNOWN).names["loss.weight"] == "loss.weight"


def test_two_networks_of_the_same_names_are_left_to_their_owner() -> None:
    assert strip_prefixes([*prefixed("encoder_q."), *prefixed("encoder_k.")], KNOWN) is None


def test_a_few_names_in_common_are_a_coincidence() -> None:
    assert (
        strip_prefixes(["features.0.weight", "fc.weight", "fc.bias"], ["weight", "bias", "a.b", "c.d", "e.f"]) is None
    )


def test_a_prefix_is_left_where_two_keys_would_become_one() -> None:
    assert strip_prefixes([*KNOWN[:2], *prefixed("module.")], KNOWN) is None


def test_wrappers_within_keys_are_removed_and_a_prefix_with_them() -> None:
    keys = ["model.conv._orig_mod.weight", "model.conv._orig_mod.bias", "model.head.module.weight", "model.head.bias"]
    found = fit_names(keys, KNOWN)
    assert tuple(found.names.values()) == KNOWN
    assert found.notes == ("the prefixes '_orig_mod.' and 'model.' and 'module.' were removed from 4 keys",)


def test_a_part_called_module_stays_where_the_module_has_one() -> None:
    known = ("module.weight", "module.bias")
    assert fit_names(known, known).removed == ()


def test_two_networks_in_one_file_are_named_and_the_one_to_leave_has_no_say() -> None:
    keys = [*prefixed("model."), *prefixed("model_ema.")]
    assert prefixes_alike(keys, KNOWN) == ("model.", "model_ema.")
    assert prefixes_alike(prefixed("model."), KNOWN) == prefixes_alike(KNOWN, KNOWN) == ()
    found = fit_names(keys, KNOWN, leave=prefixed("model_ema."))
    assert tuple(found.names.values()) == (*KNOWN, *prefixed("model_ema."))
    assert found.removed == ("model.",)
