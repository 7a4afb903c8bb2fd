"""`torch.compile`: nothing is shipped, and every process that opens the target compiles the model anew."""

from __future__ import annotations

import copy
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import torch

from parity.artifacts import MODULE, write_recipe
from parity.errors import Unsupported
from parity.exporters.base import Exported, ExportJob
from parity.models.programs import require_modules
from parity.registry import Availability, needs


class CompileExporter:
    """The recipe alone; Dynamo and Inductor work where the target is opened, at the first call of each kind of size."""

    name = "compile"
    format = MODULE
    precision = "float"
    runtime = "torch"
    source = None
    on_request = True

    def options(self) -> Mapping[str, str]:
        return {"run": "compiled", "backend": "inductor"}

    def availability(self) -> Availability:
        missing = missing_tool()
        return needs("torch") if missing is None else Availability(reason=f"torch.compile needs {missing}")

    def export(self, job: ExportJob) -> Exported:
        require_modules(job.module, "torch.compile")
        _require_graph(job)
        write_recipe(job.folder / "recipe.json", self.options())
        return Exported("recipe.json")


def _require_graph(job: ExportJob) -> None:
    """Dynamo alone reads the model, for one call: nothing is compiled yet, and this takes a second or two.

    Raises:
        Unsupported: it finds no graph and leaves all of the model to eager, as it does with one of `nn.LSTM`.
        Exception: whatever Dynamo raises.
    """
    from torch._dynamo.utils import counters  # noqa: PLC0415  # loads Dynamo, which the list of targets needs not

    kinds = ("stats", "unimplemented", "graph_break")
    before = {kind: counters[kind].copy() for kind in kinds}
    with torch.inference_mode():
        torch.compile(copy.deepcopy(job.module), backend="eager")(*(tensor.clone() for tensor in job.example))
    graphs, *reasons = (counters[kind] - before[kind] for kind in kinds)
    torch.compiler.reset()  # in one process this must not count towards the limit of what is judged
    if not graphs["unique_graphs"]:
        why = next((f": {reason.splitlines()[0]}" for found in reasons for reason in found), "")
        raise Unsupported(f"torch.compile compiles nothing of this model and leaves it to eager{why}")


def missing_tool() -> str | None:
    """What Inductor has to have here and has not, or None.

    It calls the compiler that `CXX` names, else g++ (clang++ on macOS), and what it writes includes `Python.h`
    (`torch._inductor.config.cpp.cxx` and `torch._inductor.cpp_builder`).
    """
    command = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    if shutil.which((shlex.split(command) or [""])[0]) is None:
        return f"a C++ compiler, and there is no {command} (install one, or set CXX)"
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        return f"Python's headers, and there is no Python.h in {headers} (install python3-dev)"
    return None
