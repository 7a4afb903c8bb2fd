"""A draft made a whole spec, in a child process: finding out what a model is may run its code."""

from __future__ import annotations

from collections.abc import Callable

from parity.models.draft import Draft
from parity.models.spec import ModelSpec
from parity.scratch import scratch
from parity.settings import Settings
from parity.workers.complete import complete
from parity.workers.process import Children, value_of


def completed(
    draft: Draft, settings: Settings, notice: Callable[[str], None], *, in_process: bool = False
) -> ModelSpec:
    """The spec that a draft stands for.

    Raises:
        ModelError: the file cannot be read, or its architecture is not known.
        SampleError: the samples that are to tell the inputs cannot be read.
        UsageError: nothing says what the inputs are.
    """
    if draft.whole:
        return draft.spec
    notice("look at the model")
    with scratch() as folder, Children(in_process=in_process) as children:
        log = folder / "complete.log"
        outcome = children.run(complete, draft, log=log, timeout=settings.timeouts.load)
        spec: ModelSpec = value_of(outcome, f"{draft.spec.name} cannot be read")
        return spec
