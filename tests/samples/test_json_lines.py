from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from parity.errors import SampleError
from parity.models.signature import parse_signature
from parity.samples.sources import infer_inputs, read_labels, read_samples
from tests.samples.reading import read

TOKENS = parse_signature("tokens: int64[N, T]")
PAIR = parse_signature(["input_ids: int64[N, T]", "attention_mask: bool[N, T]"])


def written(folder: Path, text: str, name: str = "x.jsonl") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_a_line_is_a_sample_and_its_numbers_get_the_dtype_of_their_input(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        '\ufeff{"input_ids": [5, 6], "attention_mask": [1, 0], "label": 1}\n\n'
        '{"attention_mask": [true, true, true], "text": "as it was", "input_ids": [7, 8, 9], "label": 0}\n',
    )
    rows, labels = read(source, PAIR, tmp_path)
    assert rows == [
        {"input_ids": [5, 6], "attention_mask": [True, False]},
        {"input_ids": [7, 8, 9], "attention_mask": [True, True, True]},
    ]
    assert labels == [1, 0]


def test_a_list_alone_is_the_single_input(tmp_path: Path) -> None:
    assert read(written(tmp_path, "[1, 2, 3]\n[4]\n"), TOKENS, tmp_path) == ([[1, 2, 3], [4]], None)


def test_the_kind_is_seen_whatever_the_file_is_called(tmp_path: Path) -> None:
    assert read(written(tmp_path, "[1, 2]", "corpus.txt"), TOKENS, tmp_path)[0] == [[1, 2]]


def test_numbers_a_line_are_labels(tmp_path: Path) -> None:
    assert read_labels(written(tmp_path, "3\n1\n2\n", "labels.txt"), tmp_path).tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1, 2", "this line is no JSON"),
        ('"words"', "this line is no sample"),
        ('["a", "b"]', "no array of numbers"),
        ("[[1, 2], [3]]", "make no array"),
        ("[1.5, 2]", "another dtype"),
        ("[99999999999999999999]", "no array of numbers"),
        ("\x1b[31m", "got:     \\x1b[31m"),
        ("null", "this line is no sample"),
        ('[{"tokens": [1]}, {"tokens": [2]}]', "one line a sample"),
        ('{"text": "words"}', "run the tokenizer first"),
        ('{"a": [1], "b": [2]}', "no input 'tokens'"),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(SampleError) as caught:
        read(written(tmp_path, f"[1, 2]\n{line}\n[3]\n"), TOKENS, tmp_path)
    assert says in str(caught.value)
    assert "line 2" in str(caught.value.where)


def test_whole_numbers_that_an_input_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="another dtype"):
        read(written(tmp_path, "[1, 300]"), parse_signature("tokens: uint8[N, T]"), tmp_path)


def test_lines_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    samples, _ = read_samples(written(tmp_path, "[1]\n[2]\nbroken\n"), TOKENS, tmp_path)
    assert [each["tokens"].tolist() for each in itertools.islice(samples, 2)] == [[1], [2]]


def test_the_inputs_are_inferred_from_the_lines(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        '{"input_ids": [5, 6], "attention_mask": [1, 0], "score": 1, "label": 1}\n'
        '{"input_ids": [7, 8, 90], "attention_mask": [1, 1, 1], "score": 0.5, "label": 0}\n',
    )
    assert infer_inputs(source, tmp_path) == (
        "input_ids: int64[N, T in 2..3] in 5..90",
        "attention_mask: int64[N, T in 2..3] in 0..1",
        "score: float32[N]",
    )
