from __future__ import annotations

import time
from pathlib import Path

import pytest

from parity import environment
from parity.environment import MachineState, read_state, state
from tests.environment.machines import LINUX, Machine, child


@pytest.mark.parametrize("allowed", ["4-5", "1-2", "0-127", "", "?"])
def test_processors_that_a_container_numbers_anew_all_count(machine: Machine, allowed: str) -> None:
    machine.write("proc/self/status", f"Cpus_allowed_list:\t{allowed}\n")
    assert read_state(machine.root).usable == frozenset({0, 1})


def test_quotas_of_the_older_kind_and_of_groups_around_count_as_well(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "4:cpu,cpuacct:/docker/1\n")
    machine.write("sys/fs/cgroup/cpu/docker/1/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 250000000\n")
    machine.write("sys/fs/cgroup/cpu/docker/cpu.stat", "nr_periods 3\nnr_throttled 1\nthrottled_time 500000000\n")
    found = read_state(machine.root)
    assert (found.quota_periods, found.quota_seconds) == (3, 0.75)


def test_a_virtual_machine_has_the_clock_of_its_list_of_processors(tmp_path: Path) -> None:
    bare = Machine(tmp_path / "bare")
    for processor in (0, 1):
        (bare.root / bare.of(processor) / "cpufreq/scaling_cur_freq").unlink()
    assert read_state(bare.root).frequencies_mhz is None
    bare.write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.132\n\nprocessor\t: 1\ncpu MHz\t\t: 2400.5\n")
    assert read_state(bare.root).frequencies_mhz == {0: 2596.132, 1: 2400.5}


def test_clocks_that_take_long_to_read_are_left_out(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "FREQUENCY_SECONDS", -1.0)
    assert read_state(machine.root).frequencies_mhz == {0: 3000.0}


@pytest.mark.parametrize("text", ["", "cpu", "cpu0 1 2 3\n", "cpu0 a b c d e f g h\n", "\x00\xff"])
def test_files_that_are_written_otherwise_count_as_not_told(machine: Machine, text: str) -> None:
    for file in machine.root.rglob("*"):
        if file.is_file():
            file.write_bytes(text.encode("latin-1"))
    before = read_state(machine.root)
    assert before == MachineState(time=before.time)


def test_a_process_has_used_what_its_threads_and_its_children_have(tmp_path: Path) -> None:
    (tmp_path / "proc/7").mkdir(parents=True)
    used = "100 20 10000 3000"
    (tmp_path / "proc/7/stat").write_text(f"7 (a name) (R) R 1 7 7 0 -1 0 5 5 5 5 {used} 20 0 4 0 1 2 3\n")
    assert environment.cpu_seconds([7], tmp_path) == pytest.approx(131.2)
    assert environment.cpu_seconds([7, 8], tmp_path) == pytest.approx(131.2)
    assert environment.cpu_seconds([8], tmp_path) == 0.0


def busy_share(pid: int, seconds: float) -> float:
    start, before = time.monotonic(), environment.cpu_seconds([pid])
    time.sleep(seconds)
    return (environment.cpu_seconds([pid]) - before) / (time.monotonic() - start)


@LINUX
def test_a_process_that_spins_is_told_from_one_that_sleeps() -> None:
    with child("while True: pass") as spinning, child("import time; time.sleep(60)") as sleeping:
        assert busy_share(sleeping, 0.4) < 0.1
        assert busy_share(spinning, 0.4) > 0.1  # it may have to share its processor


@LINUX
def test_a_snapshot_costs_little() -> None:
    costs = []
    for _ in range(20):
        start = time.thread_time()
        read_state()
        costs.append(time.thread_time() - start)
    assert sorted(costs)[len(costs) // 2] < 0.002
