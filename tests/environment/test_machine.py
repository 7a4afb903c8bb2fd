from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

from parity import environment
from parity.environment import machine, packages


def test_versions_are_of_installed_packages_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "PACKAGES", ("numpy", "no-such-package-anywhere"))
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


def group(root: Path, name: str, **files: str) -> None:
    (root / "sys/fs/cgroup" / name).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (root / "sys/fs/cgroup" / name / file.replace("__", ".")).write_text(text)


def within(root: Path, line: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(line)
    return root


def test_the_smallest_bound_of_a_group_and_those_around_it_counts(tmp_path: Path) -> None:
    root = within(tmp_path, "0::/pod/container\n")
    group(root, "pod/container", cpu__max="max 100000\n")
    assert machine.quota(root) is None
    group(root, "pod", cpu__max="150000 100000\n")
    assert machine.quota(root) == 1.5
    group(root, "pod/container", cpu__max="50000 100000\n")
    assert machine.quota(root) == 0.5


def test_a_bound_of_the_older_kind_is_read_as_well(tmp_path: Path) -> None:
    root = within(tmp_path, "9:name=systemd:/\n4:cpu,cpuacct:/docker/1\n0::/\n")
    group(root, "cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    assert machine.quota(root) is None
    group(root, "cpu/docker/1", cpu__cfs_quota_us="200000", cpu__cfs_period_us="100000")
    assert machine.quota(root) == 2.0


def test_a_group_that_only_says_which_processors_bounds_no_time(tmp_path: Path) -> None:
    root = within(tmp_path, "3:cpuset:/pinned\n")
    group(root, "cpu/pinned", cpu__cfs_quota_us="50000", cpu__cfs_period_us="100000")
    assert machine.quota(root) is None


def test_without_control_groups_there_is_no_bound(tmp_path: Path) -> None:
    assert machine.quota(tmp_path) is None


def test_features_are_those_that_kernels_choose_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: "flags\t\t: fpu avx2 amx_int8 sse\nFeatures\t: asimd\n")
    assert machine.features() == ("avx2", "amx_int8", "asimd")


def test_the_environment_says_what_torch_was_built_with_and_which_variables_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = environment.environment(1)
    assert found["torch"]["capability"] == torch.backends.cpu.get_cpu_capability()
    assert found["torch"]["inter_op"] == torch.get_num_interop_threads()
    assert found["variables"]["OMP_NUM_THREADS"] == "7"
    assert found["warnings"] == list(environment.conflicts_here(1))


def test_more_packages_are_recorded_than_artifacts_are_told_apart_by() -> None:
    assert set(packages.versions()) <= set(packages.PACKAGES)
    assert "scipy" in environment.environment(1)["versions"]
