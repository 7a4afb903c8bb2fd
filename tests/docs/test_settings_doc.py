"""docs/settings.md names every key of the settings with its default, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from parity.models.spec import Limits
from parity.settings import (
    LatencySettings,
    LimitSettings,
    ModelSettings,
    Settings,
    SuiteSettings,
    TimeoutSettings,
    WaiverSettings,
    find_settings,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
TABLES: dict[str, type[BaseModel]] = {
    "": Settings,
    "limits.": LimitSettings,
    "timeouts.": TimeoutSettings,
    "latency.": LatencySettings,
    "suites.": SuiteSettings,
    "models.NAME.": ModelSettings,
    "waivers.": WaiverSettings,
}
ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| .+ \|$", re.MULTILINE)


def written() -> dict[str, str]:
    return dict(ROW.findall(PAGE.read_text(encoding="utf-8")))


def fields() -> Iterator[tuple[str, FieldInfo]]:
    for prefix, table in TABLES.items():
        yield from ((prefix + key, field) for key, field in table.model_fields.items() if prefix + key != "root")


def described(key: str, field: FieldInfo) -> str:
    """The default as the page writes it."""
    if field.is_required():
        return "required"
    default: Any = field.get_default(call_default_factory=True)
    if key.startswith("limits."):
        default = getattr(Limits(), key.removeprefix("limits."))
    if isinstance(default, BaseModel):
        return "see `[limits]`" if key.startswith("models.") else "see below"
    if isinstance(default, int | float) and field.annotation in (float, float | None):
        default = float(default)
    return "none" if default is None else f"`{json.dumps(default)}`"


@pytest.mark.parametrize(("key", "field"), list(fields()), ids=[key for key, _ in fields()])
def test_every_key_is_described_with_its_default(key: str, field: FieldInfo) -> None:
    assert written().get(key) == described(key, field)


def test_no_key_is_described_that_does_not_exist() -> None:
    assert set(written()) == {key for key, _ in fields()}


def test_the_example_is_valid(tmp_path: Path) -> None:
    example = re.search(r"## Example\n\n```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    (tmp_path / "parity.toml").write_text(example[1], encoding="utf-8")
    settings = find_settings(tmp_path)
    assert settings.models["digits"].target_limits["onnx-int8-static"].sqnr_db == 30.0


def test_a_key_that_is_missing_from_the_page_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8").replace("| `timeouts.export` ", "| `timeouts.exports` ")
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: page)
    assert set(written()) != {key for key, _ in fields()}
