"""Every model of the zoo at every target, against what parity said when it was last looked into."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from parity.records import Report
from suites.zoo.expected import disagreement, expected
from suites.zoo.judging import judge
from suites.zoo.packages import NEEDED, availability

EXPECTED = expected()
CELLS = [
    pytest.param(model, target, id=f"{model}-{target}", marks=pytest.mark.xdist_group(f"zoo-{model}"))
    for model, cells in EXPECTED.items()
    for target in cells
]


@pytest.fixture(scope="session")
def report_of() -> Iterator[Callable[[str], Report]]:
    """The report of a model, made when it is first asked for and skipped where its packages are missing."""
    made: dict[str, Report] = {}

    def report(model: str) -> Report:
        if not (available := availability(model)):
            pytest.skip(available.reason or "")
        if model not in made:
            made[model] = judge(model)
        return made[model]

    yield report
    made.clear()


@pytest.mark.parametrize(("model", "target"), CELLS)
def test_the_verdict_is_what_it_was(model: str, target: str, report_of: Callable[[str], Report]) -> None:
    told = disagreement(EXPECTED[model][target], report_of(model).record(target))
    if told:
        pytest.fail(f"{model}: {told}", pytrace=False)


@pytest.mark.parametrize("model", EXPECTED)
def test_every_target_has_an_expected_verdict(model: str, report_of: Callable[[str], Report]) -> None:
    assert {record.target for record in report_of(model).records} == set(EXPECTED[model])


def test_every_model_has_expected_verdicts() -> None:
    assert set(EXPECTED) == set(NEEDED)
