from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import metadata

import pytest

from parity.errors import UnknownName
from parity.registry import Availability, Registry, needs


@dataclass(frozen=True)
class Thing:
    name: str
    made_by: str = "hand"


def make_thing() -> Thing:
    return Thing("lazy", "factory")


def registry(**builtin: str) -> Registry[Thing]:
    return Registry("thing", builtin=builtin)


def test_listing_names_imports_nothing() -> None:
    held = registry(late="xml.dom.pulldom:PullDOM")
    sys.modules.pop("xml.dom.pulldom", None)
    assert held.names() == ["late"]
    assert "late" in held
    assert "xml.dom.pulldom" not in sys.modules


def test_an_entry_is_made_when_it_is_first_asked_for_and_only_then() -> None:
    held = registry(lazy="tests.test_registry:make_thing")
    assert held.get("lazy").made_by == "factory"
    assert held.get("lazy") is held.get("lazy")


def test_the_last_entry_added_under_a_name_wins() -> None:
    held = registry()
    held.add(Thing("x", "first"))
    held.add(Thing("x", "second"))
    assert held.get("x").made_by == "second"
    assert list(held) == ["x"]


def test_an_unknown_name_offers_the_nearest_one() -> None:
    held = registry(trace="a:b", onnx="a:b")
    with pytest.raises(UnknownName) as caught:
        held.get("onx")
    assert str(caught.value) == "there is no thing 'onx'\n  next:    did you mean 'onnx'?"


def test_a_name_that_cannot_be_made_is_not_remembered_as_made() -> None:
    held = registry(broken="tests.test_registry:nothing_of_the_kind")
    for _ in range(2):
        with pytest.raises(AttributeError):
            held.get("broken")


def test_another_package_adds_an_entry_through_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("plugged", "tests.test_registry:make_thing", "parity.things")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if group == "parity.things" else [])
    held: Registry[Thing] = Registry("thing", group="parity.things", builtin={"own": "a:b"})
    assert held.names() == ["own", "plugged"]
    assert held.get("plugged").made_by == "factory"


def test_a_missing_package_is_a_reason_and_not_an_exception() -> None:
    missing = needs("numpy", "no-such-package-anywhere")
    assert not missing
    assert str(missing).startswith("unavailable: no-such-package-anywhere is not installed")


def test_an_installed_package_is_available_with_its_version() -> None:
    found = needs("numpy")
    assert found
    assert str(found) == f"numpy {metadata.version('numpy')}"


def test_availability_is_true_without_a_reason_only() -> None:
    assert Availability(version="1")
    assert not Availability(reason="no GPU")
