"""Which outputs there are, of which rank, shape and dtype: every disagreement is a finding of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from parity.arrays import BFLOAT16, Array
from parity.compare.layout import EMPTY
from parity.gates.numeric import judge_numeric
from parity.models.spec import Limits
from parity.records import NumericFinding, Verdict

from .cases import Calls, Case, several

RNG = np.random.default_rng(3)


def normal(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


Y, Z = normal(4, 3), normal(4, 2)


def rules(made: Case, *calls: dict[str, Array]) -> dict[str, str]:
    return {name: finding.rule for name, finding in findings(made, *calls).items()}


def findings(made: Case, *calls: dict[str, Array]) -> dict[str, NumericFinding]:
    target: Calls = {f"h{number}": call for number, call in enumerate(calls)}
    return {finding.output: finding for finding in made.findings(target)}


def verdict(finding: NumericFinding) -> Verdict:
    return judge_numeric(finding, Limits(), "float").verdict


def test_outputs_are_matched_by_name_whatever_their_order(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": Z})
    found = findings(made, {"z": Z, "y": Y})
    assert {name: verdict(each) for name, each in found.items()} == {"y": Verdict.PASS, "z": Verdict.PASS}


def test_every_disagreement_is_reported_and_not_only_the_first(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": Z, "a": Y + 1, "b": Z + 1})
    target: dict[str, Array] = {"y": Y[:, :2], "z": Z.astype(np.float64), "a": Y[:, None] + 1, "other": Z}
    found = findings(made, target)
    assert {name: each.rule for name, each in found.items()} == {
        "y": "shape", "z": "dtype", "a": "rank", "b": "missing", "other": "extra"
    }  # fmt: skip
    assert all(verdict(each) is Verdict.FAIL for each in found.values())
    assert found["a"].detail == "[4, 1, 3], not [4, 3], for a call of 4"


def test_none_in_the_reference_and_a_tensor_in_the_target_is_an_extra_output_in_any_call(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": Z}, {"y": Y})
    assert rules(made, {"y": Y, "z": Z}, {"y": Y}) == {"y": "floor", "z": "floor"}
    found = findings(made, {"y": Y, "z": Z}, {"y": Y, "z": Z})
    assert found["z"].rule == "extra"
    assert found["z"].detail == "the reference returns only y, for a call of 4"


def test_none_in_the_target_and_a_tensor_in_the_reference_is_a_missing_output(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": Z})
    found = findings(made, {"y": Y})
    assert (found["z"].rule, found["z"].detail) == ("missing", "the target returned y")


def test_bfloat16_is_not_the_float32_that_holds_it(tmp_path: Path) -> None:
    half = Y.astype(BFLOAT16)
    made = several(tmp_path, {"y": half})
    assert made.yardsticks["y"].unit == 2.0**-8
    assert verdict(findings(made, {"y": half})["y"]) is Verdict.PASS
    found = findings(made, {"y": Y})["y"]
    assert (found.rule, found.detail) == ("dtype", "float32, not bfloat16")
    other = findings(several(tmp_path, {"y": Y}), {"y": half})["y"]
    assert (other.rule, other.detail) == ("dtype", "bfloat16, not float32")


def test_complex_numbers_that_became_pairs_are_named_as_what_they_are(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": (Y + 1j * RNG.standard_normal(Y.shape)).astype(np.complex64)})
    ours = np.array(made.arrays.eager.get("h0/y"))
    found = findings(made, {"y": np.stack([ours.real, ours.imag], -1)})["y"]
    assert found.rule == "dtype"
    assert found.detail is not None
    assert found.detail.startswith("float32, not complex64: real and imaginary parts along another axis")
    assert verdict(findings(made, {"y": ours})["y"]) is Verdict.PASS
    wrong = findings(made, {"y": ours.conj()})["y"]
    assert (wrong.rule, verdict(wrong)) == ("floor", Verdict.FAIL)


@pytest.mark.parametrize("empty", [np.zeros((0, 4), np.float32), np.zeros((4, 0), np.float32), np.zeros(0, np.int64)])
def test_an_output_without_any_number_decides_nothing(tmp_path: Path, empty: Array) -> None:
    made = several(tmp_path, {"y": Y, "z": empty}, {"y": Y, "z": empty})
    found = findings(made, {"y": Y, "z": empty}, {"y": Y, "z": empty})
    result = judge_numeric(found["z"], Limits(), "float")
    assert (result.verdict, result.message) == (Verdict.INCONCLUSIVE, f"z: {EMPTY}, which decides nothing")
    assert verdict(found["y"]) is Verdict.PASS


def test_an_output_that_is_empty_in_some_calls_only_is_judged_by_the_others(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": normal(3, 2)}, {"y": Y, "z": normal(0, 2)}, {"y": Y, "z": normal(5, 2)})
    ours = [{name: np.array(array) for name, array in made.arrays.eager.get_all(f"h{n}").items()} for n in range(3)]
    assert verdict(findings(made, *ours)["z"]) is Verdict.PASS
    ours[2]["z"] = ours[2]["z"] * np.float32(1.01)
    assert verdict(findings(made, *ours)["z"]) is Verdict.FAIL


def test_a_size_that_depends_on_the_data_and_differs_is_a_shape_with_both_sizes(tmp_path: Path) -> None:
    made = several(tmp_path, {"y": Y, "z": normal(0, 2)}, {"y": Y, "z": normal(5, 2)})
    ours = [{name: np.array(array) for name, array in made.arrays.eager.get_all(f"h{n}").items()} for n in range(2)]
    found = findings(made, {**ours[0], "z": normal(1, 2)}, ours[1])["z"]
    assert (found.rule, found.detail) == ("shape", "[1, 2], not [0, 2], for a call of 4")


def test_python_numbers_are_outputs_like_any_other(tmp_path: Path) -> None:
    numbers = [{"y": Y, "scale": np.asarray(0.5), "count": np.asarray(n)} for n in (3, 4)]
    made = several(tmp_path, *numbers)
    found = findings(made, *numbers)
    assert {name: verdict(each) for name, each in found.items()} == {
        "y": Verdict.PASS, "scale": Verdict.INCONCLUSIVE, "count": Verdict.PASS
    }  # fmt: skip
    wrong = findings(made, {**numbers[0], "scale": np.asarray(0.25)}, {**numbers[1], "count": np.asarray(5)})
    assert (verdict(wrong["scale"]), verdict(wrong["count"])) == (Verdict.FAIL, Verdict.FAIL)
