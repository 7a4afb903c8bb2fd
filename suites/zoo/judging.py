"""Running parity on a model of the zoo as the command line does in this folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import parity
from parity.records import Report

ZOO = Path(__file__).resolve().parent


def judge(model: str, out: Path | None = None) -> Report:
    """`parity report MODEL --no-latency` in the zoo's folder; files are written where `out` is given."""
    with _working_in(ZOO):
        return parity.report(model, latency=False, out=out)


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Settings are looked for from the working directory upwards, and the zoo has its own."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
