"""docs/report-json.md names every field of the records, in the section of its record, and no other."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from parity import records

PAGE = Path(__file__).resolve().parents[2] / "docs" / "report-json.md"
SECTIONS: dict[str, type[Any]] = {
    "Report": records.Report,
    "Model": records.ModelFacts,
    "Samples": records.SampleFacts,
    "Reference": records.ReferenceFacts,
    "Hazards": records.Hazard,
    "Record": records.Record,
    "Waivers": records.WaiverResult,
    "Export": records.ExportFacts,
    "Numeric": records.NumericResult,
    "Decisions": records.DecisionResult,
    "Shapes": records.ShapeResult,
    "Behaviour": records.BehaviourResult,
    "Latency": records.LatencyResult,
    "Budgets": records.BudgetResult,
    "Startup": records.StartupFacts,
    "Sweep": records.SweepFacts,
    "Timing": records.TimingFacts,
    "Machine": records.MachineFacts,
    "Golden": records.GoldenResult,
}


def written(section: str) -> set[str]:
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    first_cells = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}


def named_besides(section: str) -> set[str]:
    """Everything in code spans in a section, field or value."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"`(\w+)`", text))


@pytest.mark.parametrize("section", SECTIONS)
def test_every_field_is_described(section: str) -> None:
    fields = {field.name for field in dataclasses.fields(SECTIONS[section])}
    assert fields <= written(section)


@pytest.mark.parametrize("section", SECTIONS)
def test_no_field_is_described_that_does_not_exist(section: str) -> None:
    assert written(section) <= {field.name for field in dataclasses.fields(SECTIONS[section])}


def test_enumerated_values_are_all_named() -> None:
    values = {str(value) for kind in (records.Verdict, records.Stage, records.Symptom) for value in kind}
    assert values <= named_besides("Record")
