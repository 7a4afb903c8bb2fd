"""Measure the tables of `docs/zoo.md` and write them there: ``python -m suites.zoo.figures [MODEL ...]``.

What lies between two marks of a model is replaced; the words around them are written by hand.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import parity
from parity.records import Report
from parity.reports import summary
from parity.reports.markdown import code, text
from parity.reports.numbers import count, size
from suites.zoo.judging import ZOO, judge
from suites.zoo.packages import NEEDED, availability

PAGE = ZOO.parent.parent / "docs" / "zoo.md"
COLUMNS = ("target", "verdict", "floors / limit", "error / floor", "decisions", "size")


def table(report: Report, seconds: float) -> str:
    """The facts of a report in a sentence, and one row for each target."""
    model, samples = report.model, report.samples
    inputs = ", ".join(map(code, model.inputs))
    facts = f"{model.parameters:,} parameters; {inputs}; {count(samples.n, 'held-out sample')}"
    if samples.calibration_n:
        facts += f", {samples.calibration_n} for calibration"
    if report.reference.unstable:
        facts += f". The reference is unstable: {text(report.reference.unstable)}"
    lines = [f"{facts}. The report took {seconds:.0f} s.", "", f"| {' | '.join(COLUMNS)} |"]
    lines.append("| --- | --- | --: | --- | --- | --: |")
    for row in summary.rows(report):
        verdict = f"{row.verdict}" + (f" {code(row.ended)}" if row.ended else "")
        floors, errors = row.error[0], " ".join(row.error[1:])
        cells = (code(row.target), verdict, text(floors), text(errors), text(" ".join(row.decision)), row.size[0][0])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a generated block."""
    return f"<!-- figures: {name} -->", f"<!-- end: {name} -->"


def replaced(page: str, name: str, block: str) -> str:
    """The page with a block put between its marks.

    Raises:
        ValueError: the page lacks a mark.
    """
    start, end = marks(name)
    if start not in page or end not in page:
        raise ValueError(f"{PAGE.name} has no marks for {name}: write {start} and {end} where its table belongs")
    head, tail = page.partition(start)[0], page.partition(end)[2]
    return f"{head}{start}\n{block}\n{end}{tail}"


def made_with(report: Report) -> str:
    """What the figures were measured with."""
    found = report.environment
    versions = found["versions"]
    named = ", ".join(f"{key} {versions[key]}" for key in ("torch", "onnx", "onnxruntime") if versions.get(key))
    return f"parity {parity.__version__}, {named}, Python {sys.version.split()[0]}."


def main() -> int:
    """Measure the models named on the command line, or all that are installed, and rewrite the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="*", help="models to measure; all of them where none is named")
    parser.add_argument("--out", type=Path, help="keep the reports in a folder of each model here")
    arguments = parser.parse_args()
    chosen = arguments.model or list(NEEDED)
    missing = {model: found for model in chosen if not (found := availability(model))}
    if missing:
        print("\n".join(f"{model}: {found}" for model, found in missing.items()), file=sys.stderr)
        return 1
    for model in chosen:
        start = time.perf_counter()
        report = judge(model, arguments.out.resolve() / model if arguments.out else None)
        page = PAGE.read_text(encoding="utf-8")
        page = replaced(page, model, table(report, time.perf_counter() - start))
        page = replaced(page, "versions", made_with(report))
        PAGE.write_text(page, encoding="utf-8")
        print(f"{model}: {size(PAGE.stat().st_size)} written to {PAGE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
