"""Artifacts cached by content: the same model, exporter, options and versions are exported once."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from parity.artifacts import MANIFEST, Artifact, read_artifact
from parity.environment import versions
from parity.exporters import Exporter
from parity.settings import Settings
from parity.storage import Place, full

KEPT_BYTES = 20 << 30
"""The least recently used artifacts are removed once the cache holds more than this."""

_SCRATCH = "compiled"
"""Beside the artifacts: what runtimes compile, one folder for all of them. New weights find there what the old ones
left. It counts as an artifact does, and goes as one where nobody has used it for long."""


def cache_folder(settings: Settings) -> Path:
    """`PARITY_CACHE`, else the setting, else the user's cache folder."""
    chosen = os.environ.get("PARITY_CACHE") or settings.cache
    return (settings.root / chosen).resolve() if chosen else Path(platformdirs.user_cache_dir("parity"))


def cache_key(exporter: Exporter, *parts: str) -> str:
    """A digest of everything that an artifact depends on.

    Args:
        exporter: Its name, options and source code count.
        parts: Digests of weights, code, signature, example, calibration samples and source artifact.
    """
    source = inspect.getsourcefile(type(exporter))
    described = {
        "exporter": exporter.name,
        "options": dict(exporter.options()),
        "exporter_code": hashlib.sha256(Path(source).read_bytes()).hexdigest() if source else "",
        "versions": versions(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "parts": parts,
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


class ArtifactCache:
    """A folder of artifacts by key. Several processes may use it at once.

    Args:
        folder: Where they lie.
        spare: A folder of this run's own, for what cannot be cached.
    """

    def __init__(self, folder: Path, spare: Path | None = None) -> None:
        self._folder = folder
        self._spare = spare

    @property
    def place(self) -> Place:
        """What to say of the folder where it cannot be written to."""
        hint = "choose another cache with PARITY_CACHE=DIR, or empty this one, which is safe"
        return Place(self._folder, "the cache", hint)

    @property
    def problem(self) -> str:
        """Why nothing can be cached; empty where it can."""
        found = full((self.place,))
        return f"{found.what} ({self._folder})" if found else ""

    def instead(self) -> ArtifactCache | None:
        """What takes its place where nothing can be cached: exports are made, and forgotten after this run."""
        return ArtifactCache(self._spare) if self._spare is not None else None

    @contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Hold a key, so that an artifact is made once even by parallel test workers."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder / f"{key}.lock"):
            yield

    def find(self, key: str) -> Artifact | None:
        """The whole and undamaged artifact of a key; a damaged one is removed."""
        folder = self._folder / key
        artifact = read_artifact(folder)
        if artifact is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            os.utime(folder)
        return artifact

    def make(self, key: str, fill: Callable[[Path], bool]) -> Artifact | None:
        """Let `fill` make an artifact in a fresh folder, and keep it where it says that it did.

        The folder appears under its key only when it is complete.
        """
        temporary = Path(tempfile.mkdtemp(prefix=".part-", dir=self._folder))
        try:
            if not fill(temporary):
                return None
            temporary.replace(self._folder / key)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        self._prune(keep=key)
        return read_artifact(self._folder / key)

    def _prune(self, keep: str) -> None:
        # A name with a dot is another process's artifact in the making.
        folders = [each for each in self._folder.iterdir() if not each.name.startswith(".")]
        used = {folder: usage for folder in folders if (usage := _usage(folder))}
        total = sum(size for _, size in used.values())
        for folder in sorted(used, key=lambda each: used[each]):
            if total <= KEPT_BYTES:
                return
            if folder.name != keep and self._removed(folder):
                total -= used[folder][1]

    def _removed(self, folder: Path) -> bool:
        """Remove an artifact, unless somebody holds it: it is being copied."""
        try:
            with FileLock(self._folder / f"{folder.name}.lock", timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
        except Timeout:
            return False
        return True


def _usage(folder: Path) -> tuple[float, int] | None:
    """When an artifact was last used, and its size in bytes; None where another process has just removed it."""
    try:
        if not folder.is_dir():
            return None
        used = folder.stat().st_mtime
        return used, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    except FileNotFoundError:
        return None


def place(artifact: Artifact, folder: Path) -> Artifact:
    """A copy of a cached artifact for people to take; no hard link, which onnx refuses to read as an attack."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*artifact.manifest.files, MANIFEST):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(artifact.folder / name, target)
    return Artifact(folder, artifact.manifest, artifact.folder.parent / _SCRATCH)
