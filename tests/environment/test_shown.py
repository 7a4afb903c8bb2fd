"""`parity targets` shows what is wrong with the environment before anything is judged."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from parity import environment
from parity.cli import app


@pytest.mark.parametrize("found", [(), ("two builds of [one] runtime",)])
def test_the_list_of_targets_ends_with_what_is_wrong(monkeypatch: pytest.MonkeyPatch, found: tuple[str, ...]) -> None:
    monkeypatch.setattr(environment, "conflicts_here", lambda: found)
    shown = CliRunner().invoke(app, ["targets"]).output
    assert "onnxruntime" in shown
    assert ("warning: two builds of [one] runtime" in shown) is bool(found)
