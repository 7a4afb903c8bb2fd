"""Every registered model at every target: `pytest suites/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from parity.suite import ParityCase


def test_numerics(parity_case: ParityCase) -> None:
    parity_case.check_numerics()


def test_shapes(parity_case: ParityCase) -> None:
    parity_case.check_shapes()


def test_latency(parity_case: ParityCase, benchmark: BenchmarkFixture) -> None:
    parity_case.check_latency(benchmark)


def test_golden(parity_case: ParityCase) -> None:
    parity_case.check_golden()
