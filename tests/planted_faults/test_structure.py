"""Names, dtypes and sizes of outputs, through the command: what disagrees is named, and its healthy twin passes."""

from __future__ import annotations

from parity.records import Verdict
from tests.end_to_end.background import Background


def test_names_that_are_exchanged_in_an_onnx_file_are_caught(runs: Background) -> None:
    assert runs["named"].status == 1
    record = runs["named"].record("mislabelled.onnx")
    assert [(each.output, each.rule) for each in record.numeric] == [("left", "order"), ("right", "order")]
    assert record.message == ("left: order: it holds what right should, and right what left should: they look swapped")


def test_the_same_file_with_its_names_as_they_should_be_passes_and_so_does_a_trace_that_has_lost_them(
    runs: Background,
) -> None:
    for target in ("named.onnx", "trace"):
        record = runs["named"].record(target)
        assert record.verdict is Verdict.PASS, record
        assert [each.output for each in record.numeric] == ["left", "right"]


def test_an_output_that_was_bfloat16_and_is_float32_is_caught(runs: Background) -> None:
    assert runs["halved"].status == 1
    assert [output.dtype for output in runs["halved"].report.reference.outputs] == ["float32", "bfloat16"]
    record = runs["halved"].record("halved-widened.ts.pt")
    assert (record.verdict, record.message) == (Verdict.FAIL, "output_1: dtype: float32, not bfloat16")
    healthy = runs["halved"].record("halved.ts.pt")
    assert healthy.verdict is Verdict.PASS, healthy


def test_a_selection_of_another_size_is_caught_with_both_sizes(runs: Background) -> None:
    assert runs["selects"].status == 1
    record = runs["selects"].record("selects-fewer.ts.pt")
    (shape,) = (each for each in record.numeric if each.rule == "shape")
    assert shape.output == "output_1"
    assert ", not [" in record.message
    healthy = runs["selects"].record("trace")
    assert healthy.verdict is Verdict.PASS, healthy
