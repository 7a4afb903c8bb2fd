"""What several test modules share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for each test in turn; none is made: pytest would look through those of all tests before it."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that no other test and no user has put anything into; children never read it."""
    folder = next(caches)
    monkeypatch.setenv("PARITY_CACHE", str(folder))
    return folder
