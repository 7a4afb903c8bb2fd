"""What parity says of each model of the zoo at each target, as it was last looked into, from `expected.toml`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parity.records import Record, Stage, Symptom, Verdict

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).resolve().parent / "expected.toml"

PASSED = ("done", "ok")


@dataclass(frozen=True)
class Expected:
    """One cell as it should end.

    Attributes:
        verdict: What parity decides.
        stage: Where the cell ends.
        symptom: How it ends there.
        says: Words that are in the record's message, so that it does not fail for another reason unnoticed.
        because: Why that is right, in words; empty where it passes.
    """

    verdict: Verdict
    stage: Stage
    symptom: Symptom
    says: str = ""
    because: str = ""


def expected(table: Path = TABLE) -> dict[str, dict[str, Expected]]:
    """Every expected cell, by model and target.

    Raises:
        ValueError: a cell that does not pass has no reason, or one has a key or a value that is not known.
    """
    written = tomllib.loads(table.read_text(encoding="utf-8"))
    return {
        model: {target: _cell(f"{model} at {target}", cell) for target, cell in cells.items()}
        for model, cells in written.items()
    }


def _cell(where: str, written: str | Mapping[str, Any]) -> Expected:
    cell = {"verdict": written} if isinstance(written, str) else dict(written)
    stage, symptom = str(cell.pop("ended", "/".join(PASSED))).split("/")
    try:
        made = Expected(verdict=Verdict(cell.pop("verdict")), stage=Stage(stage), symptom=Symptom(symptom), **cell)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from error
    if made.verdict is not Verdict.PASS and not made.because:
        raise ValueError(f"{where} is expected to be {made.verdict}, and `because` does not say why that is right")
    return made


def disagreement(want: Expected, record: Record) -> str | None:
    """How a record differs from what was expected, in either direction; None where it does not."""
    got = (record.verdict, record.stage, record.symptom)
    if got == (want.verdict, want.stage, want.symptom) and want.says in record.message:
        return None
    looked = f"{want.verdict} ({want.stage}/{want.symptom})" + (f" that says {want.says!r}" if want.says else "")
    now = f"{record.verdict} ({record.stage}/{record.symptom})" + (f": {record.message}" if record.message else "")
    reason = f"\n  which was right because {want.because}" if want.because else ""
    return (
        f"{record.target} was {looked} when it was last looked into{reason}\n  and is {now}\n"
        f"  next: find out which change made the difference, then correct {TABLE.name}"
    )
