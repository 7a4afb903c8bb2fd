"""The terminal: eighty columns, no terminal at all, colour, and other people's markup."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable

import pytest
from rich.console import Console

from parity.records import Record, Report, Verdict
from parity.reports import terminal

from . import examples


def _printed(report: Report, width: int = 80, *, colour: bool = False, record: Record | None = None) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None)
    if record is None:
        terminal.print_report(report, console)
    else:
        terminal.print_record(report, record, console)
    return out.getvalue()


@pytest.mark.parametrize("make", [examples.all_pass, examples.nine_targets, examples.unstable, examples.hazardous])
def test_eighty_columns_are_enough_and_nothing_is_cut(make: Callable[[], Report]) -> None:
    text = _printed(make())
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text


def test_without_a_terminal_there_is_no_escape_sequence() -> None:
    assert "\x1b" not in _printed(examples.nine_targets())
    assert "\x1b" in _printed(examples.nine_targets(), colour=True)


def test_the_columns_of_a_wide_console() -> None:
    text = _printed(examples.nine_targets(), 160)
    line = next(line for line in text.splitlines() if line.startswith("onnx@openvino"))
    assert "FAIL" in line
    for cell in ("312 / 10", "1 2 3! 8", "0.643", "46.8 MB", "output boxes: error 312 floors"):
        assert cell in line
    assert "0.623..0.663" in text
    assert "n=540" in text


def test_what_failed_and_what_is_inconclusive_is_listed_in_full_with_the_log() -> None:
    text = _printed(examples.nine_targets())
    assert "FAIL aoti@torch (run/crash)" in text
    assert "log: parity-report/artifacts/aoti/log.txt" in text
    assert "inconclusive fx-int8@torchscript" in text
    assert "inconclusive torch-export@torch" in text
    assert "pip install tensorrt" in text


def test_a_long_log_path_stays_on_one_line() -> None:
    path = "parity-report/artifacts/" + "x" * 100 + "/log.txt"
    report = examples.report(examples.record("onnx@onnxruntime", verdict=Verdict.FAIL, log=path))
    assert f"  log: {path}\n" in _printed(report)


def test_the_last_line_is_the_verdict() -> None:
    text = _printed(examples.all_pass())
    assert text.splitlines()[-2].startswith("PASS: resnet18, judged on 540 held-out samples")
    assert _printed(examples.report(), 200).strip().endswith("no target was judged")


def test_markup_in_names_and_messages_is_shown_and_not_obeyed() -> None:
    text = _printed(examples.hazardous(), 160)
    assert "[red]y[/red]" in text
    assert "[link](http://example.org)" in text


@pytest.mark.parametrize("index", range(9))
def test_everything_known_about_a_record_at_eighty_columns(index: int) -> None:
    report = examples.nine_targets()
    text = _printed(report, record=report.records[index])
    assert max(len(line) for line in text.splitlines()) <= 80
    assert report.records[index].target in text


def test_measured_floor_and_limit_stand_side_by_side() -> None:
    report = examples.nine_targets()
    lines = _printed(report, 100, record=report.records[2]).splitlines()
    boxes = next(line for line in lines if line.startswith("boxes"))
    assert boxes.split() == ["boxes", "0.000175", "5.6e-07", "312", "10", "FAIL"]
    eight = next(number for number, line in enumerate(lines) if line.startswith("8") and "0.67" in line)
    assert (lines[eight].split(), lines[eight + 1].split()) == (["8", "0.67", "pass"], ["0.65..0.69"])


def test_a_waiver_is_shown_with_its_reason_its_last_day_and_what_it_covers() -> None:
    report = examples.report(examples.record("trace@torchscript"), examples.waived())
    for text in (_printed(report, 240), _printed(report), _printed(report, 160, record=report.records[1])):
        line = " ".join(text.split())
        assert "the resize is fixed in opset 22" in line
        assert "36 floors" in line
    known = " ".join(_printed(report, 160, record=report.records[1]).split())
    assert "waiver waived: onnx@onnxruntime (numeric, logits only) until 2025-03-31" in known


def test_ratio_and_limit_stand_over_error_and_floor() -> None:
    lines = _printed(examples.all_pass(), 160).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("trace@torchscript"))
    assert "1.05 / 10" in lines[first]
    assert "5.9e-07 / 5.6e-07" in lines[first + 1]


def test_what_was_done_to_have_the_model_is_told_and_a_long_list_is_cut() -> None:
    base = examples.all_pass()
    few = dataclasses.replace(base, model=dataclasses.replace(base.model, notes=("the prefix 'module.' was removed",)))
    lines = [line.rstrip() for line in _printed(few).splitlines()]
    assert lines[lines.index("Model") + 1] == "  the prefix 'module.' was removed"
    many = tuple(f"note {number}" for number in range(11))
    text = _printed(dataclasses.replace(base, model=dataclasses.replace(base.model, notes=many)))
    assert "note 7" in text
    assert "note 8" not in text
    assert "and 3 more in the report" in text
    assert "\nModel\n" not in _printed(base)
