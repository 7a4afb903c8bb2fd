"""The reference itself as a target: whatever it does not pass, or differs from in speed, is the measurement's own."""

from __future__ import annotations

from collections.abc import Mapping

from parity.artifacts import MODULE, write_recipe
from parity.exporters.base import Exported, ExportJob
from parity.registry import Availability, needs


class EagerExporter:
    """Nothing is made: the model is built once more and called as it is."""

    name = "eager"
    format = MODULE
    precision = "float"
    runtime = "torch"
    source = None
    on_request = True

    def options(self) -> Mapping[str, str]:
        return {"run": "eager"}

    def availability(self) -> Availability:
        return needs("torch")

    def export(self, job: ExportJob) -> Exported:
        write_recipe(job.folder / "recipe.json", self.options())
        return Exported("recipe.json")
