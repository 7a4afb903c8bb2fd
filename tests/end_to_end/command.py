"""The command as a user runs it: a process of its own in a project folder, with a cache of its own.

Most are forked from a process that has loaded what a command loads; what is said of starting needs a fresh interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import parity
from parity.cli import main
from parity.records import Record, Report
from parity.reports.schema import from_json
from tests.forked import AVAILABLE, SECONDS, run_forked

COMMAND = (sys.executable, "-m", "parity")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and the folder that it wrote to."""

    status: int
    stdout: str
    stderr: str
    out: Path

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.stdout + self.stderr

    @property
    def report(self) -> Report:
        """`report.json`, held against its schema."""
        assert (self.out / "report.json").is_file(), self.text
        return from_json((self.out / "report.json").read_text(encoding="utf-8"))

    def record(self, target: str) -> Record:
        """The record of one target: its name, or the exporter or file that it starts with."""
        found = [each for each in self.report.records if target in (each.target, each.target.partition("@")[0])]
        assert len(found) == 1, [each.target for each in self.report.records]
        return found[0]


@dataclass(frozen=True)
class Project:
    """A folder to run commands in, the name of its cache, and whether a command starts an interpreter."""

    folder: Path
    cache_name: str = ".cache"
    fresh: bool = not AVAILABLE

    @property
    def cache(self) -> str:
        """The value of `PARITY_CACHE`."""
        return str(self.folder / self.cache_name)

    def environment(self) -> dict[str, str]:
        """The caller's, with a cache for this project alone and the package that is being tested."""
        package = str(Path(parity.__file__).resolve().parents[1])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **os.environ,
            "PARITY_CACHE": self.cache,
            "PYTHONPATH": os.pathsep.join(paths),
            "COLUMNS": "240",
        }

    def run(self, *arguments: str) -> Ran:
        """Run `parity` with these arguments, as they are."""
        if not self.fresh:
            ended = run_forked(main, ("parity", *arguments), self.folder, self.environment())
            return Ran(ended.status, ended.stdout, ended.stderr, self.folder)
        ran = subprocess.run(
            [*COMMAND, *arguments], cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr, self.folder)

    def report(self, *arguments: str, out: str = "parity-report") -> Ran:
        """Run `parity report` without timing."""
        ran = self.run("report", *arguments, "--no-latency", "--out", out)
        return Ran(ran.status, ran.stdout, ran.stderr, self.folder / out)
