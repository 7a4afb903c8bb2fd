"""One exporter's artifact: found in the cache, or made in a child process and kept there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from parity.artifacts import MODULE, Artifact, Manifest, write_manifest
from parity.cache import ArtifactCache, cache_key, place
from parity.errors import StorageError
from parity.exporters import EXPORTERS
from parity.models.spec import ModelSpec
from parity.records import ExportFacts, FileFacts, Symptom
from parity.storage import unwritable
from parity.workers.export import ExportTask, export
from parity.workers.load import Loaded
from parity.workers.process import Children, Outcome


@dataclass(frozen=True)
class Exported:
    """An artifact with its facts, or the record fields that took its place."""

    artifact: Artifact | None
    facts: ExportFacts | None
    symptom: Symptom
    message: str = ""
    log: str | None = None


@dataclass(frozen=True)
class Exporting:
    """Where artifacts of one model come from.

    Attributes:
        spec: The model.
        samples: The folder of the stored samples.
        artifacts: Where artifacts and logs are put for people to find.
        cache: Artifacts of earlier runs.
        children: Starts the child processes.
        timeout: Seconds after which an export is stopped.
        threads: Intra-op threads while exporting.
        notice: Called with a few words before an export starts.
    """

    spec: ModelSpec
    samples: Path
    artifacts: Path
    cache: ArtifactCache
    children: Children
    timeout: float
    threads: int
    notice: Callable[[str], None]

    def make(self, name: str, loaded: Loaded, source: Artifact | None) -> Exported:
        """The artifact of an exporter. What an export does wrong is the value's symptom, never raised.

        Raises:
            StorageError: a folder that it writes to cannot be written to; a cache that cannot costs the caching alone.
        """
        exporter = EXPORTERS.get(name)
        key = cache_key(
            exporter,
            loaded.model.weights_sha256,
            loaded.model.code_sha256,
            self.spec.factory,
            *map(str, self.spec.signature.inputs),
            loaded.example_sha256,
            loaded.calibration_sha256 if exporter.precision != "float" else "",
            source.manifest.sha256 if source else "",
        )
        instead = self.cache.instead()
        if instead is None:
            return self._found_or_made(name, key, loaded, source)
        problem = self.cache.problem
        if not problem:
            try:
                return self._found_or_made(name, key, loaded, source)
            except (OSError, StorageError) as error:
                found = unwritable(error, (self.cache.place,))
                if found is None or str(self.cache.place.folder) not in (found.where or ""):
                    raise
                problem = f"{found.what} ({found.where})"
        note = f"not cached: {problem}"
        self.notice(f"{name}: {note}")
        made = replace(self, cache=instead).make(name, loaded, source)
        return replace(made, facts=made.facts and replace(made.facts, notes=(*made.facts.notes, note)))

    def _found_or_made(self, name: str, key: str, loaded: Loaded, source: Artifact | None) -> Exported:
        with self.cache.locked(key):
            found = self.cache.find(key)
            if found is not None:
                placed = place(found, self.artifacts / name)
                return Exported(placed, export_facts(placed, cached=True), Symptom.OK)
            return self._make_now(name, key, loaded, source)

    def _make_now(self, name: str, key: str, loaded: Loaded, source: Artifact | None) -> Exported:
        self.notice(f"export {name}")
        folder = self.artifacts / name
        log = folder / "export.log"
        outcomes: list[Outcome] = []

        def fill(temporary: Path) -> bool:
            task = ExportTask(
                spec=self.spec,
                exporter=name,
                samples=self.samples,
                example=loaded.example,
                folder=temporary,
                source=source,
                threads=self.threads,
                weights_sha256=loaded.model.weights_sha256,
            )
            outcome = self.children.run(export, task, log=log, timeout=self.timeout, also=(self.cache.place,))
            outcomes.append(outcome)
            if outcome.symptom is not Symptom.OK:
                return False
            manifest: Manifest = outcome.value
            write_manifest(temporary, manifest)
            return True

        made = self.cache.make(key, fill)
        if made is None:
            return Exported(None, None, outcomes[-1].symptom, outcomes[-1].message, str(log))
        placed = place(made, folder)
        return Exported(placed, export_facts(placed, cached=False), Symptom.OK, log=str(log))


def export_facts(artifact: Artifact, *, cached: bool) -> ExportFacts | None:
    """What the report says of an artifact, or None where there is nothing to ship.

    The recipe of a target without a file is a few bytes, written in no time: its size beside those of files that are
    shipped would be a wrong answer to the question how large this target is.
    """
    manifest = artifact.manifest
    if manifest.format == MODULE:
        return None
    return ExportFacts(
        seconds=manifest.seconds,
        bytes=manifest.bytes,
        sha256=manifest.sha256,
        cached=cached,
        path=str(artifact.entry),
        notes=manifest.notes,
        files=tuple(FileFacts(name=name, bytes=size, sha256=sha) for name, (sha, size) in manifest.files.items()),
    )
