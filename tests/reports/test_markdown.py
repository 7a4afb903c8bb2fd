"""report.md: tables that stay tables whatever the messages hold."""

from __future__ import annotations

import dataclasses
import re

from parity.reports import markdown

from . import examples


def test_every_row_has_as_many_cells_as_the_head() -> None:
    for report in (examples.nine_targets(), examples.hazardous()):
        targets, _, speed = markdown.render(report).partition("### Speed")
        table = [line for line in targets.splitlines() if line.startswith("|")]
        assert len(table) == 2 + len(report.records)
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in speed.splitlines() if line.startswith("|")}
        assert len(cells) == 1


def test_messages_cannot_make_markup_or_mention_anyone() -> None:
    text = markdown.render(examples.hazardous())
    assert "<script>" not in text.replace("`</script><b>x</b>", "")
    assert "<img" not in text
    assert "@someone" not in text
    assert "[link](" not in text
    assert r"\*bold\*" in text


def test_targets_stand_in_code_spans() -> None:
    text = markdown.render(examples.nine_targets())
    assert "| `onnx@openvino` | ❌ fail `done/mismatch` | 312 / 10 (0.00017 / 5.6e-07) |" in text
    assert "1 2 3 ✗ 8 32 ✗" in text


def test_the_first_line_is_the_verdict_and_what_passed_needs_no_reading() -> None:
    text = markdown.render(examples.all_pass())
    assert text.startswith("## parity: ✅ pass\n")
    assert "What to read" not in text
    assert "> The reference is unstable" in markdown.render(examples.unstable())


def test_a_waiver_is_shown_in_the_row() -> None:
    text = markdown.render(examples.report(examples.record("trace@torchscript"), examples.waived()))
    assert "1 waived (onnx&#64;onnxruntime)" in text
    assert "waived until 2025-03-31: the resize is fixed in opset 22; without it: fail: logits" in text


def test_what_was_done_to_have_the_model_is_told() -> None:
    base = examples.all_pass()
    noted = dataclasses.replace(base, model=dataclasses.replace(base.model, notes=("left out: *fc*",)))
    assert "### Model\n\n- left out: \\*fc\\*\n" in markdown.render(noted)
    assert "### Model" not in markdown.render(base)
