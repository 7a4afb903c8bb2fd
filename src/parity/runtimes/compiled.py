"""A session over what `torch.compile` makes of a module, which says how much of it was compiled at all."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn
from torch._dynamo.utils import counters

from parity.arrays import Array
from parity.errors import ParityError
from parity.records import RECOMPILE_LIMIT
from parity.runtimes.calls import Call
from parity.runtimes.modules import ModuleSession

CACHE = "TORCHINDUCTOR_CACHE_DIR"
"""Where Inductor looks for what it compiled before. Importing it sets this to a folder under /tmp that all of a user's
projects share, so that a value says nothing of what the user wants."""

_KINDS = ("stats", "graph_break", "unimplemented", "inductor")
_LIMIT = ("recompile limit", "recompile_limit", "cache_size_limit")
"""What Dynamo calls the number of times that it compiles one function; versions write it differently."""


class CompiledSession:
    """Compiles at the first call, and again where a size asks for it; Dynamo's defaults decide when.

    `dynamic=None` makes the first other size of a dimension a symbol, so that most models are compiled twice. Dynamo
    gives up on a function once it has compiled it as often as `torch._dynamo.config.recompile_limit` allows, and runs
    it eagerly from then on, without an error: `facts` say so, as they say how often a graph ended early.

    Args:
        module: In eval mode, on the device.
        call: How it takes its inputs.
        device: Where it lies.
        outputs: The model's names.
        backend: Of `torch.compile`.
        scratch: Where Inductor keeps what it made.
    """

    def __init__(
        self, module: nn.Module, call: Call, device: str, outputs: tuple[str, ...], *, backend: str, scratch: Path
    ) -> None:
        _prepare(scratch)
        self._before = _counted()
        self._session = ModuleSession(torch.compile(module, backend=backend), call, device, outputs=outputs)
        self._called = False
        self.doubts = self._session.doubts

    @property
    def facts(self) -> Mapping[str, str]:
        """Those of a session, and what became of the calls until now."""
        return {**self._session.facts, **compiled_facts(self._since())}

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One call.

        Raises:
            ParityError: nothing at all of the model was compiled, so that the target would be eager under another name;
                or the C++ compiler refuses what Inductor wrote.
            Exception: whatever else Dynamo, Inductor or the model raise.
        """
        try:
            outputs = self._session.run(inputs)
        except Exception as error:
            refused = compiler_line(str(error))
            if refused is None:
                raise
            raise ParityError(f"the C++ compiler refuses what Inductor wrote: {refused}") from error
        if not self._called:
            if not self._since()["stats"]["unique_graphs"]:
                raise ParityError(
                    "torch.compile compiled nothing of this model, and runs it eagerly",
                    hint="remove what disables it (torch.compiler.disable, TORCH_COMPILE_DISABLE), or the target",
                )
            self._called = True
        return outputs

    def _since(self) -> Mapping[str, Counter[str]]:
        return {kind: now - self._before[kind] for kind, now in _counted().items()}


def compiled_facts(counted: Mapping[str, Counter[str]]) -> dict[str, str]:
    """What the report says of Dynamo's and Inductor's counts.

    Args:
        counted: Counts by kind (`stats`, `graph_break`, `unimplemented`, `inductor`), as `torch._dynamo.utils.counters`
            has them.
    """
    graphs, found = counted["stats"]["unique_graphs"], counted["inductor"]["fxgraph_cache_hit"]
    facts = {"compiled": f"{graphs} graph{'' if graphs == 1 else 's'}"}
    if found or counted["inductor"]["fxgraph_cache_miss"]:  # the backend is Inductor, and its cache is on
        facts["compiled"] += f", {found} of them found compiled in the cache"
    skipped = counted["unimplemented"]
    limits = [reason for reason in skipped if any(word in reason.lower() for word in _LIMIT)]
    others = Counter({reason: count for reason, count in skipped.items() if reason not in limits})
    for name, reasons in (("graph breaks", counted["graph_break"]), ("functions left to eager", others)):
        if reasons:
            facts[name] = f"{reasons.total()}, most often: {reasons.most_common(1)[0][0].splitlines()[0]}"
    if limits:
        facts[RECOMPILE_LIMIT] = (
            "reached: the sizes that came after it ran eagerly in part or as a whole, and say nothing of compiled code "
            "(torch._dynamo.config.recompile_limit)"
        )
    return facts


def compiler_line(message: str) -> str | None:
    """What the C++ compiler said first, in an exception of Inductor's that begins with the command; else None."""
    _, compiling, rest = message.partition("C++ compile error")
    said = [line.strip() for line in rest.partition("Output:")[2].splitlines() if line.strip()]
    if not compiling or not said:
        return None
    return next((line for line in said if "error" in line), said[0])


def _counted() -> dict[str, Counter[str]]:
    return {kind: Counter(counters[kind]) for kind in _KINDS}


def _prepare(scratch: Path) -> None:
    """One folder for every process that opens the target, and none that compiles beside what is timed.

    Inductor writes paths into the compiler's command without quotes, so that a folder whose name needs them is left
    alone, for Inductor's own.
    """
    from torch._inductor import config  # noqa: PLC0415  # loads Inductor's settings, which nothing else here needs

    config.compile_threads = 1
    if shlex.quote(str(scratch)) == str(scratch):
        scratch.mkdir(parents=True, exist_ok=True)
        os.utime(scratch)  # the cache removes what was not used for longest
        os.environ[CACHE] = str(scratch)
