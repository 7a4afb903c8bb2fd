"""The pytest plugin: the `parity_case` fixture runs a test once for each registered model and target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from parity.suite import ParityCase, SuiteSession

FIXTURE = "parity_case"
_SESSION = pytest.StashKey["SuiteSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--parity-model` and `--parity-target` narrow what `parity_case` runs."""
    group = parser.getgroup("parity", "parity between PyTorch models and their exports")
    group.addoption("--parity-model", action="append", metavar="NAME", help="only this registered model; repeatable")
    group.addoption(
        "--parity-target",
        action="append",
        metavar="TARGET",
        help="only this target, exporter@runtime or an exporter; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Xdist's marker, which is used with it and without."""
    config.addinivalue_line("markers", "xdist_group(name): tests that share a process under --dist loadgroup")


def _session(config: pytest.Config) -> SuiteSession:
    if _SESSION not in config.stash:
        from parity.errors import ParityError  # noqa: PLC0415  # nothing is loaded where no test asks for a case
        from parity.suite import SuiteSession  # noqa: PLC0415

        try:
            config.stash[_SESSION] = SuiteSession.at(config.rootpath)
        except ParityError as error:
            raise pytest.Collector.CollectError(str(error)) from error  # shown without a traceback
    return config.stash[_SESSION]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each model and target; those of a model share a group, so that xdist keeps them together."""
    if FIXTURE not in metafunc.fixturenames:
        return
    from parity.errors import ParityError  # noqa: PLC0415  # as above

    session = _session(metafunc.config)
    try:
        cases = session.cases(metafunc.config.getoption("parity_model"), metafunc.config.getoption("parity_target"))
    except ParityError as error:
        raise pytest.Collector.CollectError(str(error)) from error  # shown without a traceback
    parameters = [
        pytest.param(case, id=f"{case.model}-{case.target.name}", marks=pytest.mark.xdist_group(case.model))
        for case in cases
    ]
    metafunc.parametrize(FIXTURE, parameters, indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A case that is benchmarked is timed by the clock of the worker that runs it."""
    names = getattr(item, "fixturenames", ())
    if FIXTURE not in names or "benchmark" not in names:
        return
    case: ParityCase = item.callspec.params[FIXTURE]  # type: ignore[attr-defined]  # parametrized above
    session = _session(item.config)
    item.add_marker(pytest.mark.benchmark(timer=session.clock, group=f"{case.model}, batch {session.batch(case.spec)}"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is left after -k and the like is what a model's cells are run for."""
    if _SESSION not in session.config.stash:
        return
    selected: dict[str, dict[str, ParityCase]] = {}
    for item in session.items:
        case: ParityCase | None = getattr(getattr(item, "callspec", None), "params", {}).get(FIXTURE)
        if case is not None:
            selected.setdefault(case.model, {})[case.target.name] = case
    for model, cases in selected.items():
        session.config.stash[_SESSION].selected[model] = [case.target for case in cases.values()]


@pytest.fixture
def parity_case(request: pytest.FixtureRequest) -> ParityCase:
    """One registered model at one target, with the checks of a suite."""
    case: ParityCase = request.param
    return case


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Inconclusive checks are skipped tests; nobody should have to look for them."""
    if _SESSION not in config.stash:
        return
    undecided = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and "inconclusive: " in report.longrepr[2]
    ]
    if undecided:
        terminalreporter.section("parity: inconclusive")
        for report in undecided:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr[2].removeprefix('Skipped: ')}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the children and remove what they wrote."""
    if _SESSION in config.stash:
        config.stash[_SESSION].close()
