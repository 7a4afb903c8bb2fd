"""The run stage: one runtime opens one artifact and answers every call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parity.arrays import ArrayWriter
from parity.artifacts import Artifact
from parity.errors import ParityError
from parity.models.spec import ModelSpec
from parity.records import OutputFacts
from parity.runtimes import Session
from parity.samples.calls import AGAIN, LAST, Call, kept
from parity.samples.excluded import Excluded
from parity.samples.store import StoredSamples
from parity.storage import raise_where_no_room
from parity.workers.entry import useful_line
from parity.workers.load import HELD_OUT
from parity.workers.opening import open_session

OUTPUTS = "outputs"
AT_EXCLUDED = "at-excluded"


@dataclass(frozen=True)
class RunTask:
    """What a child needs to run an artifact."""

    artifact: Artifact
    runtime: str
    spec: ModelSpec
    samples: Path
    calls: tuple[Call, ...]
    folder: Path
    threads: int
    device: str = "cpu"
    excluded: tuple[Excluded, ...] = ()
    outputs: tuple[OutputFacts, ...] = ()


@dataclass(frozen=True)
class Ran:
    """What came of it: `failed` holds, by call, the line that matters; `opened` is False where nothing ran.

    `answered` are calls that the model refuses and the target answers. `doubts` are sentences by `inputs` and
    `outputs`, where the session had to tell them apart by their position alone.
    """

    opened: bool
    message: str
    failed: Mapping[str, str]
    facts: Mapping[str, str]
    answered: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)


def run(task: RunTask) -> Ran:
    """Open the artifact and make every call, writing outputs to `task.folder`.

    A call that raises is recorded and the next one is made: another batch size may well work. After the
    first failure the rest of the held-out calls is left out, since nothing more can be learnt from them. The
    first call is made twice in a row, and once more after all others.
    """
    try:
        session = open_session(
            task.spec, task.artifact, task.runtime, threads=task.threads, device=task.device, outputs=task.outputs
        )
    except Exception as error:  # noqa: BLE001  # a stage boundary: not opening is this stage's result
        raise_where_no_room(error)
        message = error.line if isinstance(error, ParityError) else useful_line(error)
        return Ran(opened=False, message=message, failed={}, facts={})
    stored = StoredSamples(task.samples / HELD_OUT, task.spec.signature)
    failed: dict[str, str] = {}
    first = task.calls[0]
    with ArrayWriter(task.folder, OUTPUTS) as writer:

        def answered(call: Call, key: str) -> bool:
            try:
                writer.put_all(key, kept(session.run(stored.batch(call.samples)), call))
            except Exception as error:  # noqa: BLE001  # a stage boundary: the call's failure is a finding
                raise_where_no_room(error)
                failed[key] = error.line if isinstance(error, ParityError) else useful_line(error)
            return key not in failed

        gave_up = not (answered(first, first.id) and answered(first, f"{first.id}{AGAIN}"))
        for call in task.calls[1:]:
            if gave_up and call.sweep is None:
                continue
            gave_up = (not answered(call, call.id) and call.sweep is None) or gave_up
        if first.id not in failed:
            answered(first, f"{first.id}{LAST}")
    answered_too = _ask_excluded(task, session, stored)
    doubts = dict(getattr(session, "doubts", {}))
    return Ran(opened=True, message="", failed=failed, facts=dict(session.facts), answered=answered_too, doubts=doubts)


def _ask_excluded(task: RunTask, session: Session, stored: StoredSamples) -> tuple[str, ...]:
    """Calls that the model refuses and this target answers; a file says at which one it may have died."""
    answered: list[str] = []
    for each in task.excluded:
        (task.folder / AT_EXCLUDED).write_text(each.name)
        try:
            session.run(stored.batch(each.call.samples))
        except Exception as error:  # noqa: BLE001  # whatever it raises, it refuses
            raise_where_no_room(error)
            print(f"{each.name}: {useful_line(error)}")  # noqa: T201  # goes to the log
        else:
            answered.append(each.call.id)
    return tuple(answered)
