"""What a report was made from, and what the machine did meanwhile."""

from __future__ import annotations

import dataclasses

from parity.records import MachineFacts, TimingFacts
from parity.reports import html, provenance

from . import timed

MACHINE = MachineFacts(
    seconds=312.0, cores=2, load=1.42, steal_share=0.004, other_share=0.31, frequency_mhz_low=1900.0,
    frequency_mhz_high=3200.0, governor="powersave", throttled=1, throttled_periods=12, throttled_seconds=0.61,
)  # fmt: skip


def test_everything_that_the_machine_tells_is_shown() -> None:
    assert provenance.machine_facts(MACHINE) == (
        ("processors", "2"),
        ("load", "1.42 at the end, averaged over a minute"),
        ("used by others", "31 % of the processors' time"),
        ("stolen", "0.4 % of the processors' time, by the hypervisor"),
        ("clock", "1900..3200 MHz under the governor powersave"),
        ("slowed by heat", "1 time"),
        ("held back by a quota", "12 periods, 0.61 s"),
    )


def test_what_the_machine_does_not_tell_is_left_out() -> None:
    assert provenance.machine_facts(MachineFacts(seconds=1.0)) == ()
    assert provenance.machine_facts(MachineFacts(seconds=1.0, other_share=0.0)) == (
        ("used by others", "0 % of the processors' time"),
    )


def test_the_timing_stage_tells_what_it_took_and_what_the_machine_did() -> None:
    timing = TimingFacts(seconds=312.0, burst_seconds=240.0, sittings=6, machine=MACHINE, notes=timed.NOTES)
    report = dataclasses.replace(timed.quiet(), timing=timing)
    facts = dict(provenance.timing_facts(report))
    assert facts["timing took"] == "312 s, 240 s of it in bursts of calls"
    assert facts["used by others"] == "31 % of the processors' time"
    assert "1900..3200 MHz under the governor powersave" in html.render(report)
    assert provenance.timing_facts(dataclasses.replace(report, timing=None)) == ()
