from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

from parity import environment


def test_versions_are_of_installed_packages_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "PACKAGES", ("numpy", "no-such-package-anywhere"))
    assert environment.versions() == {"numpy": metadata.version("numpy")}


def test_the_class_of_a_machine_changes_with_the_threads_alone_on_one_machine() -> None:
    assert environment.machine_class(1) == environment.machine_class(1)
    assert environment.machine_class(1) != environment.machine_class(2)
    assert environment.machine_class(2).endswith("2 threads")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process to processors")
def test_cores_are_those_that_this_process_may_use() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert environment.cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_a_processor_has_a_name_even_where_the_system_lists_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> str:
        raise OSError("no such file")

    monkeypatch.setattr(Path, "read_text", refuse)
    assert environment.processor()


def test_the_environment_holds_the_command_without_the_programme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/parity", "report", "digits"])
    found = environment.environment(3)
    assert found["argv"] == "report digits"
    assert found["threads"] == 3
    assert found["machine_class"] == environment.machine_class(3)
