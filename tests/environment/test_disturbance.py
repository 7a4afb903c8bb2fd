from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from parity import environment
from parity.environment import MachineState, changes, disturbance, noise, read_state
from parity.records import MachineFacts
from tests.environment.machines import LINUX, Machine, child


def later(before: MachineState, machine: Machine, seconds: float = 10.0) -> MachineState:
    return replace(read_state(machine.root), time=before.time + seconds)


def over_ten_seconds(machine: Machine, before: MachineState, own: float = 10.0) -> MachineFacts:
    return changes(before, later(before, machine), own_cpu_seconds=own)


def test_a_quiet_machine_gives_figures_and_nothing_to_say(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 9.8, "system": 0.2}, {"user": 0.1, "idle": 9.0, "iowait": 0.9})
    facts = over_ten_seconds(machine, before)
    assert facts.other_share == pytest.approx(0.005)
    assert facts == MachineFacts(
        seconds=10.0, cores=2, load=0.5, steal_share=0.0, other_share=facts.other_share, frequency_mhz_low=3000.0,
        frequency_mhz_high=3000.0, governor="schedutil", throttled=0, throttled_periods=0, throttled_seconds=0.0,
    )  # fmt: skip
    assert noise(facts) == ()


def test_what_other_processes_use_is_told(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 9.0, "idle": 1.0}, {"user": 3.0, "nice": 1.0, "softirq": 1.0, "idle": 5.0})
    facts = over_ten_seconds(machine, before)
    assert facts.other_share == pytest.approx(0.2)
    (said,) = noise(facts)
    assert "other processes used 20.0 %" in said
    assert "5.0 %" in said
    assert "end them" in said


def test_what_parity_itself_uses_is_not_others(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 10.0}, {"user": 10.0})
    assert noise(over_ten_seconds(machine, before, own=19.5)) == ()
    assert over_ten_seconds(machine, before, own=25.0).other_share == 0.0
    assert noise(over_ten_seconds(machine, before, own=10.0)) != ()


def test_guests_are_counted_once_and_waiting_for_disks_is_idling(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 5.0, "guest": 5.0, "iowait": 5.0}, {"nice": 2.0, "guest_nice": 2.0, "idle": 8.0})
    assert over_ten_seconds(machine, before, own=7.0).other_share == 0.0


def test_stolen_time_is_told(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 9.0, "steal": 1.0}, {"idle": 10.0})
    facts = over_ten_seconds(machine, before, own=9.0)
    assert facts.steal_share == pytest.approx(0.05)
    assert facts.other_share == 0.0
    (said,) = noise(facts)
    assert "the hypervisor gave 5.0 %" in said
    assert "2.0 %" in said


def test_a_processor_that_may_not_be_used_disturbs_nobody(machine: Machine) -> None:
    machine.write("proc/self/status", "Cpus_allowed_list:\t1\n")
    before = read_state(machine.root)
    machine.processors({"user": 10.0}, {"user": 4.0, "idle": 6.0})
    facts = over_ten_seconds(machine, before, own=4.0)
    assert (facts.cores, facts.other_share) == (1, 0.0)
    assert over_ten_seconds(machine, before, own=3.0).other_share == pytest.approx(0.1)


def test_heat_is_counted_once_for_a_package(machine: Machine) -> None:
    for processor in (0, 1):
        machine.heat(processor, core=5, package=100)
    before = read_state(machine.root)
    machine.heat(0, core=5, package=103)
    machine.heat(1, core=5, package=103)
    facts = over_ten_seconds(machine, before)
    assert facts.throttled == 3
    (said,) = noise(facts)
    assert "heat slowed a processor down 3 times" in said


@pytest.mark.parametrize(
    ("governor", "mhz", "told"),
    [("powersave", 2400.0, 1), ("powersave", 2950.0, 0), ("performance", 2400.0, 0)],
)
def test_a_governor_is_told_where_it_moves_the_clock(machine: Machine, governor: str, mhz: float, told: int) -> None:
    machine.clock(3000.0, governor)
    machine.clock(800.0, governor, processor=1)
    before = read_state(machine.root)
    machine.clock(mhz, governor)
    facts = over_ten_seconds(machine, before)
    assert (facts.frequency_mhz_low, facts.frequency_mhz_high) == (mhz, 3000.0)
    said = noise(facts)
    assert len(said) == told
    assert all("between 2400 and 3000 MHz" in sentence and "frequency-set" in sentence for sentence in said)


def test_the_clock_of_a_processor_that_may_not_be_used_does_not_count(machine: Machine) -> None:
    for processor in (0, 1):
        (machine.root / machine.of(processor) / "cpufreq/scaling_cur_freq").unlink()
    machine.write("proc/cpuinfo", "processor: 0\ncpu MHz: 3000\nprocessor: 1\ncpu MHz: 2000\n")
    machine.write("proc/self/status", "Cpus_allowed_list:\t1\n")
    assert over_ten_seconds(machine, read_state(machine.root)).frequency_mhz_high == 2000.0


def test_governors_that_differ_are_all_named(machine: Machine) -> None:
    machine.clock(3000.0, "performance", processor=1)
    assert over_ten_seconds(machine, read_state(machine.root)).governor == "performance, schedutil"


def test_a_quota_that_holds_threads_back_is_told(machine: Machine) -> None:
    machine.held_back(periods=7, usec=1_000_000)
    before = read_state(machine.root)
    machine.held_back(periods=8, usec=1_050_000)
    assert noise(over_ten_seconds(machine, before)) == ()
    machine.held_back(periods=40, usec=3_500_000)
    facts = over_ten_seconds(machine, before)
    assert facts.throttled_periods == 33
    assert facts.throttled_seconds == pytest.approx(2.5)
    (said,) = noise(facts)
    assert "held threads back for 2.5 s within 10.0 s" in said
    assert "--threads" in said


def test_a_system_that_tells_nothing_leaves_everything_out(tmp_path: Path) -> None:
    before = read_state(tmp_path)
    assert before == MachineState(time=before.time)
    facts = changes(before, replace(before, time=before.time + 3.0), own_cpu_seconds=1.0)
    assert facts == MachineFacts(seconds=3.0)
    assert noise(facts) == ()


def test_counts_that_stand_still_say_nothing(machine: Machine) -> None:
    before = read_state(machine.root)
    facts = over_ten_seconds(machine, before)
    assert (facts.other_share, facts.steal_share) == (None, None)


def test_counts_that_step_back_count_as_none(machine: Machine) -> None:
    machine.processors({"user": 5.0, "iowait": 9.0}, {"user": 5.0, "iowait": 9.0})
    machine.heat(0, core=7, package=7)
    machine.held_back(periods=9, usec=9_000_000)
    before = read_state(machine.root)
    machine.processors({"user": 15.0, "iowait": 8.0}, {"user": 6.0, "iowait": 18.0})
    machine.heat(0, core=0, package=0)
    machine.held_back(periods=0, usec=0)
    facts = over_ten_seconds(machine, before)
    assert facts.other_share == pytest.approx(1 / 20)
    assert (facts.throttled, facts.throttled_periods, facts.throttled_seconds) == (0, 0, 0.0)


def test_a_moment_is_too_short_for_shares(machine: Machine) -> None:
    before = read_state(machine.root)
    machine.processors({"user": 0.5}, {"user": 0.5})
    short = changes(before, later(before, machine, 0.5), own_cpu_seconds=0.0)
    assert (short.seconds, short.other_share, short.steal_share) == (0.5, None, None)
    enough = changes(before, later(before, machine, disturbance.SHORTEST_SECONDS), own_cpu_seconds=0.0)
    assert enough.other_share == 1.0


@LINUX
def test_a_process_of_somebody_else_shows_on_the_real_machine() -> None:
    with child("while True: pass") as busy:
        before, own, used = read_state(), environment.cpu_seconds([os.getpid()]), environment.cpu_seconds([busy])
        time.sleep(1.2)
        after = read_state()
        mine, theirs = environment.cpu_seconds([os.getpid()]) - own, environment.cpu_seconds([busy]) - used
    facts = changes(before, after, own_cpu_seconds=mine)
    assert facts.other_share is not None
    assert facts.cores is not None
    assert facts.other_share >= 0.7 * theirs / (facts.seconds * facts.cores)
    assert facts.load is not None
    assert facts.load >= 0.0
    counted = changes(before, after, own_cpu_seconds=mine + theirs)
    assert counted.other_share is not None
    assert counted.other_share < facts.other_share
