"""report.json: what is written reads back the same, and is described by the schema that ships."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import pytest

from parity.errors import ParityError
from parity.records import SCHEMA, NumericResult, Report
from parity.reports import schema

from . import examples

REPORTS = [examples.all_pass, examples.nine_targets, examples.unstable, examples.hazardous, examples.explained]


def _no_constant(name: str) -> NoReturn:
    raise AssertionError(f"{name} is not JSON")


def _values(tree: Any) -> Iterator[Any]:
    yield tree
    for inner in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _values(inner)


@pytest.mark.parametrize("make", REPORTS)
def test_what_is_written_reads_back_equal(make: Callable[[], Report]) -> None:
    report = make()
    assert schema.from_json(schema.to_json(report)) == report


@pytest.mark.parametrize("make", REPORTS)
def test_it_is_strict_json_without_a_null(make: Callable[[], Report]) -> None:
    data = json.loads(schema.to_json(make()), parse_constant=_no_constant)
    assert all(value is not None for value in _values(data))


def test_fields_that_do_not_apply_are_absent() -> None:
    data = json.loads(schema.to_json(examples.nine_targets()))
    crashed = data["records"][3]
    assert crashed["target"] == "aoti@torch"
    assert not {"export", "memory", "precision", "runtime"} & set(crashed)
    assert crashed["numeric"] == []
    assert "oracle_reason" not in data["reference"]


def test_none_in_the_free_form_environment_is_absent_too() -> None:
    report = dataclasses.replace(examples.all_pass(), environment={"cuda": None, "packages": {"onnx": None}})
    assert json.loads(schema.to_json(report))["environment"] == {"packages": {}}


@pytest.mark.parametrize(
    ("value", "text"), [(math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (1e-300, 1e-300)]
)
def test_floats_that_are_not_finite_are_strings_and_come_back_as_floats(value: float, text: object) -> None:
    report = examples.report(examples.record("onnx@onnxruntime", numeric=(examples.numeric(value),)))
    written = schema.to_json(report)
    assert json.loads(written, parse_constant=_no_constant)["records"][0]["numeric"][0]["ratio"] == text
    ratio = schema.from_json(written).records[0].numeric[0].ratio
    assert ratio == value or (math.isnan(value) and ratio is not None and math.isnan(ratio))


def test_numpy_scalars_are_written_as_numbers() -> None:
    """A stage that forgot to convert its numbers must not cost the whole report at its very end."""
    ratio: Any = np.float32(1.5)
    numeric = examples.numeric(ratio, error=1e-6, worst_sample=np.int64(3), max_abs=np.float32("inf"))
    written = schema.to_json(examples.report(examples.record("onnx@onnxruntime", numeric=(numeric,))))
    read = schema.from_json(written).records[0].numeric[0]
    assert (read.ratio, read.worst_sample, read.max_abs) == (1.5, 3, math.inf)


def test_what_a_newer_version_added_is_ignored() -> None:
    data = json.loads(schema.to_json(examples.all_pass()))
    data["records"][0]["future"] = {"anything": 1}
    assert schema.from_json(json.dumps(data)) == examples.all_pass()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"schema": "parity-re', "it is not JSON"),
        ("[1, 2]", "cannot be read"),
        ("{}", "cannot be read"),
        ('{"schema": "parity-report/2"}', "parity-report/2"),
        (f'{{"schema": "{SCHEMA}"}}', "this report is damaged"),
    ],
)
def test_a_damaged_report_is_told_from_another_schema(text: str, told: str) -> None:
    with pytest.raises(ParityError) as caught:
        schema.from_json(text)
    assert told in str(caught.value)
    assert "next:" in str(caught.value)


def test_damage_is_located() -> None:
    data = json.loads(schema.to_json(examples.all_pass()))
    data["records"][1]["verdict"] = "perhaps"
    with pytest.raises(ParityError, match="damaged") as caught:
        schema.from_json(json.dumps(data))
    assert caught.value.where == "records.1.verdict"


def test_the_schema_file_is_in_step_with_the_records() -> None:
    shipped = json.loads(schema.SCHEMA_FILE.read_text(encoding="utf-8"))
    assert shipped == schema.json_schema(), f"the records changed; run `{schema.REGENERATE}`"


def test_the_schema_describes_no_null_and_requires_what_is_always_written() -> None:
    described = schema.json_schema()
    assert all(value not in ("null", None) for value in _values(described))
    assert described["properties"]["schema"]["const"] == SCHEMA
    definitions = described["$defs"]
    assert "oracle_reason" not in definitions["ReferenceFacts"]["required"]
    assert "p90_ms" not in definitions["LatencyResult"]["required"]
    assert {"target", "verdict", "stage", "symptom"} <= set(definitions["Record"]["required"])
    assert set(definitions["NumericResult"]["properties"]) == {
        field.name for field in dataclasses.fields(NumericResult)
    }
