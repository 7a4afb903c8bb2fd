"""What several test modules share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that no other test and no user has put anything into; children never read it."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("PARITY_CACHE", str(folder))
    return folder
