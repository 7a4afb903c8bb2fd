"""Targets: an exporter at a runtime, or a file made elsewhere at a runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parity.artifacts import Artifact
from parity.errors import SettingsError, UnknownName, UsageError, did_you_mean
from parity.exporters import EXPORTERS, on_request
from parity.registry import Availability
from parity.runtimes import RUNTIMES
from parity.settings import Settings


@dataclass(frozen=True)
class Target:
    """One column of the plan. `artifact` is there where the file was made elsewhere."""

    exporter: str
    runtime: str
    requested: bool = False
    artifact: Artifact | None = None

    @property
    def name(self) -> str:
        """`exporter@runtime`."""
        return f"{self.exporter}@{self.runtime}"

    def availability(self) -> Availability:
        """Whether both halves can be used here."""
        halves = [RUNTIMES.get(self.runtime).availability()]
        exporter: str | None = None if self.artifact else self.exporter
        while exporter is not None:
            halves.append(EXPORTERS.get(exporter).availability())
            exporter = EXPORTERS.get(exporter).source
        return next((half for half in halves if not half), halves[0])


def parse_target(text: str) -> Target:
    """`exporter@runtime`, or an exporter alone for its default runtime.

    Raises:
        UnknownName: no such exporter or runtime.
        UsageError: the runtime does not read what the exporter makes.
    """
    name, at, runtime_name = text.partition("@")
    if name not in EXPORTERS:
        raise UnknownName(f"there is no exporter {name!r}", where=f"target {text}",
                          hint=f"{did_you_mean(name, EXPORTERS.names())} · parity targets")  # fmt: skip
    exporter = EXPORTERS.get(name)
    runtime_name = runtime_name if at else exporter.runtime
    if runtime_name not in RUNTIMES:
        raise UnknownName(f"there is no runtime {runtime_name!r}", where=f"target {text}",
                          hint=f"{did_you_mean(runtime_name, RUNTIMES.names())} · parity targets")  # fmt: skip
    formats = RUNTIMES.get(runtime_name).formats
    if exporter.format not in formats:
        raise UsageError(
            f"{runtime_name} does not read what {name} makes",
            where=f"target {text}",
            allowed=", ".join(sorted(formats)),
            got=exporter.format,
            hint=f"{name}@{exporter.runtime}",
        )
    return Target(name, runtime_name, requested=True)


def target_in_settings(text: str, where: str) -> str:
    """`exporter@runtime` for a target that the settings name: an exporter alone stands for its default runtime.

    A name with a suffix, such as `net.onnx`, may be that of a file made elsewhere, and stays as it is.

    Raises:
        SettingsError: no such exporter or runtime, or the runtime does not read what the exporter makes.
    """
    exporter, at, runtime = text.partition("@")
    if exporter not in EXPORTERS and Path(exporter).suffix:
        if at and runtime not in RUNTIMES:
            raise SettingsError(f"there is no runtime {runtime!r}", where=where, got=text,
                                hint=f"{did_you_mean(runtime, RUNTIMES.names())} · parity targets")  # fmt: skip
        return text
    try:
        return parse_target(text).name
    except UsageError as error:
        raise SettingsError(error.what, where=where, allowed=error.allowed, got=text, hint=error.hint) from error


def check_target_limits(settings: Settings) -> None:
    """Raises SettingsError where `target_limits` of a model names a target that nobody knows."""
    for name, model in settings.models.items():
        for target in model.target_limits:
            target_in_settings(target, f"models.{name}.target_limits.{target}")


def plan_targets(requested: Sequence[str] | None) -> tuple[Target, ...]:
    """The requested targets, or every exporter at its default runtime, each once and in order.

    Exporters on request are there where they are named, and only there.
    """
    if requested is None:
        exporters = (EXPORTERS.get(name) for name in EXPORTERS)
        return tuple(Target(each.name, each.runtime) for each in exporters if not on_request(each))
    return tuple({target.name: target for target in map(parse_target, requested)}.values())


def foreign_target(path: Path, artifact: Artifact, runtime: str | None) -> Target:
    """The target that a file made elsewhere stands for, at the only runtime that reads it or the one asked for.

    Raises:
        UsageError: no runtime reads it, or the one asked for does not.
    """
    readers = [name for name in RUNTIMES if artifact.manifest.format in RUNTIMES.get(name).formats]
    if not readers or (runtime is not None and runtime not in readers):
        raise UsageError(
            f"{runtime or 'no runtime'} reads this artifact",
            where=str(path),
            allowed=", ".join(readers) or "none",
            got=artifact.manifest.format,
        )
    return Target(artifact.manifest.exporter, runtime or readers[0], requested=True, artifact=artifact)
