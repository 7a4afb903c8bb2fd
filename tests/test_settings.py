from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from parity.api import with_latency_seconds
from parity.errors import SettingsError, UsageError
from parity.models.spec import Limits
from parity.settings import LimitSettings, Settings, find_settings

WAIVER = "[[waivers]]\nmodel = '*'\ntarget = 'onnx'\n"
EXPIRES = "reason = 'a'\nexpires = 2027-01-31\n"


def write(folder: Path, text: str, name: str = "parity.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_without_a_file_the_defaults_hold_and_the_root_is_where_it_starts(tmp_path: Path) -> None:
    assert find_settings(tmp_path) == Settings(root=tmp_path)


def test_the_nearest_file_upwards_counts_alone(tmp_path: Path) -> None:
    write(tmp_path, "golden = 'outer'\ncache = 'outer'")
    inner = write(tmp_path / "a", "golden = 'inner'")
    found = find_settings(write(inner / "b" / "c", "", "unrelated.txt"))
    assert (found.golden, found.cache, found.root) == ("inner", None, inner)


def test_pyproject_counts_where_it_has_a_table_of_ours(tmp_path: Path) -> None:
    write(tmp_path, "[tool.parity]\ngolden = 'kept'", "pyproject.toml")
    inner = write(tmp_path / "a", "[tool.ruff]\nline-length = 9", "pyproject.toml")
    assert find_settings(inner).golden == "kept"


def test_parity_toml_goes_before_pyproject_in_one_folder(tmp_path: Path) -> None:
    write(tmp_path, "[tool.parity]\ngolden = 'project'", "pyproject.toml")
    write(tmp_path, "golden = 'own'")
    assert find_settings(tmp_path).golden == "own"


def test_every_section_is_read(tmp_path: Path) -> None:
    found = find_settings(write(tmp_path, """
        registry = ["suites/models.py"]
        [limits]
        ratio = 7.5
        [timeouts]
        export = 30
        [latency]
        processes = 3
        [suites]
        inconclusive = "fail"
        [models.digits]
        factory = "model.py:Net"
        input = ["x: float32[N]"]
        [models.digits.limits]
        agreement = 0.9
        [models.digits.target_limits."onnx@onnxruntime"]
        sqnr_db = 20
        [[waivers]]
        model = "digits"
        target = "onnx"
        reason = " known "
        expires = 2027-01-31
        check = "latency"
    """))  # fmt: skip
    digits = found.models["digits"]
    assert (found.limits.ratio, found.timeouts.export, found.latency.processes) == (7.5, 30, 3)
    assert (found.registry, found.suites.inconclusive) == (["suites/models.py"], "fail")
    assert (digits.factory, digits.limits.agreement) == ("model.py:Net", 0.9)
    assert digits.target_limits["onnx@onnxruntime"].sqnr_db == 20
    (waiver,) = found.waivers
    assert (waiver.reason, waiver.expires, waiver.check) == ("known", dt.date(2027, 1, 31), "latency")


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("goldn = 'x'", "there is no setting 'goldn'", "did you mean 'golden'?"),
        ("[limits]\nratoi = 1", "there is no setting 'limits.ratoi'", "did you mean 'ratio'?"),
        ("[models.a]\nfactry = 'x'", "there is no setting 'models.a.factry'", "did you mean 'factory'?"),
        ("[models.a.target_limits.onnx]\nration = 1", "there is no setting 'models.a.target_limits.onnx.ration'",
         "did you mean 'ratio'?"),
        ("[[waivers]]\nmodel = 'a'\ntarget = 'b'\nreason = 'c'\nexpires = 2027-01-31\nchek = 'latency'",
         "there is no setting 'waivers.0.chek'", "did you mean 'check'?"),
    ],
)  # fmt: skip
def test_a_misspelt_setting_is_named_with_the_nearest_one(tmp_path: Path, text: str, what: str, hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        find_settings(write(tmp_path, text))
    assert caught.value.what == what
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint.rstrip("?"))
    assert caught.value.where == str(tmp_path / "parity.toml")


@pytest.mark.parametrize(
    "text",
    ["[limits]\nratio = 0", "[limits]\nagreement = 1.5", "[limits]\nlatency = 0.9", "[timeouts]\nrun = -1",
     "[latency]\nprocesses = 0", "[suites]\ninconclusive = 'maybe'", "registry = 'one'", "limits = 3",
     "root = '/elsewhere'", "golden = ", "\xff",
     WAIVER + "reason = ' '\nexpires = 2027-01-31", WAIVER + "reason = 'a'\nexpires = '2027-01-31'",
     WAIVER + "reason = 'a'", WAIVER + "expires = 2027-01-31", WAIVER.replace("onnx", "*") + EXPIRES,
     WAIVER + EXPIRES + "check = 'everything'", WAIVER + EXPIRES + "check = 'latency'\noutput = 'logits'"],
)  # fmt: skip
def test_a_value_that_makes_no_sense_is_a_settings_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "parity.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError) as caught:
        find_settings(tmp_path)
    assert caught.value.where == str(tmp_path / "parity.toml")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0", "'models.net.limits.max_ms' is wrong: Input should be greater than 0"),
        ("{ 8 = 0 }", "'models.net.limits.max_ms.8' is wrong: Input should be greater than 0"),
        ("{ 0 = 1.0 }", "'models.net.limits.max_ms.0.[key]' is wrong: Input should be greater than or equal to 1"),
    ],
)
def test_of_a_limit_by_batch_size_or_for_all_the_one_that_was_written_is_told(
    tmp_path: Path, value: str, said: str
) -> None:
    (tmp_path / "parity.toml").write_text(f"[models.net.limits]\nmax_ms = {value}\n")
    with pytest.raises(SettingsError) as caught:
        find_settings(tmp_path)
    assert said in str(caught.value)
    (tmp_path / "parity.toml").write_text("[models.net.limits]\nmax_ms = { 8 = 1.0 }\n")
    assert find_settings(tmp_path).models["net"].limits.max_ms == {8: 1.0}


def test_limits_of_a_narrower_scope_are_laid_over_value_by_value() -> None:
    wide = LimitSettings(ratio=5, agreement=0.9)
    assert wide.over(LimitSettings(ratio=7)) == LimitSettings(ratio=7, agreement=0.9)
    assert wide.over(None) == wide
    assert LimitSettings().over(wide) == wide


def test_limits_that_are_left_out_take_the_defaults() -> None:
    assert LimitSettings().frozen() == Limits()
    assert LimitSettings(ratio=3).frozen() == Limits(ratio=3)


def test_a_waiver_with_a_reason_and_a_last_day_is_read(tmp_path: Path) -> None:
    (waiver,) = find_settings(write(tmp_path, WAIVER + EXPIRES)).waivers
    assert (waiver.model, waiver.target, waiver.output) == ("*", "onnx", None)


@pytest.mark.parametrize("key", ["seconds", "max_seconds"])
def test_timing_that_never_ends_is_refused(tmp_path: Path, key: str) -> None:
    assert getattr(find_settings(write(tmp_path / "fine", f"latency.{key} = 60.0")).latency, key) == 60.0
    with pytest.raises(SettingsError, match=key):
        find_settings(write(tmp_path / "endless", f"latency.{key} = inf"))


def test_a_bound_on_timing_replaces_that_of_the_settings_and_has_to_be_one() -> None:
    settings = Settings(root=Path())
    assert with_latency_seconds(settings, None) is settings
    assert with_latency_seconds(settings, 60.0).latency.max_seconds == 60.0
    assert with_latency_seconds(settings, 0.5).latency.seconds == 0.5
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="--latency-seconds"):
            with_latency_seconds(settings, wrong)
