"""The shipped index is what the installed torchvision gives, and a newer torchvision gets an index of its own."""

from __future__ import annotations

from fractions import Fraction
from importlib import metadata
from pathlib import Path

import pytest
import torchvision

from parity.models.architectures import Match, NoMatch, index, recognise
from parity.models.architectures.index import SHIPPED, more_templates, read_index, write_index
from parity.models.architectures.making import make_templates, reason_left_out, without_data
from parity.models.architectures.templates import Template, Term

VERSION, TEMPLATES = read_index()
NAMES = sorted(name for name in torchvision.models.list_models() if reason_left_out(name) is None)

as_indexed = pytest.mark.skipif(
    metadata.version("torchvision").partition("+")[0] != VERSION,
    reason=f"the shipped index is of torchvision {VERSION}: python -m parity.models.architectures.index",
)


@as_indexed
def test_every_name_of_torchvision_is_indexed_or_left_out_for_a_reason() -> None:
    assert sorted({template.name for template in TEMPLATES}) == NAMES
    left_out = set(torchvision.models.list_models()) - set(NAMES)
    assert all(name.startswith("quantized_") for name in left_out)


@as_indexed
@pytest.mark.parametrize(
    "name",
    ["resnet18", "googlenet", "fcn_resnet50", "vit_b_16", "keypointrcnn_resnet50_fpn", "regnet_x_400mf", "raft_small"],
)
def test_the_shipped_index_is_what_torchvision_gives(name: str) -> None:
    assert make_templates([name]) == [template for template in TEMPLATES if template.name == name]


def test_the_shipped_index_is_small() -> None:
    assert SHIPPED.stat().st_size < 1 << 20


def test_an_index_is_read_as_it_was_written_and_written_alike(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_index(tmp_path / name, VERSION, TEMPLATES)
    assert read_index(tmp_path / "one") == (VERSION, TEMPLATES)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes() == SHIPPED.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["one", "other"]


@pytest.mark.parametrize(
    ("term", "sizes"),
    [
        (Term("num_classes", 1, Fraction(4), 0), {4: 1, 364: 91, 0: None, 6: None, -4: None}),
        (Term("image_size", 2, Fraction(1, 256), 1), {197: 224, 577: 384, 1: None, 196: None, 57: None}),
    ],
)
def test_a_term_is_solved_in_whole_numbers_only(term: Term, sizes: dict[int, int | None]) -> None:
    assert {size: term.solve(size) for size in sizes} == sizes


def older(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacking: str) -> Path:
    """An index that was made from a torchvision without one of the architectures is what is shipped."""
    path = tmp_path / "older.json.gz"
    write_index(path, "0.1.0", [template for template in TEMPLATES if template.name != lacking])
    monkeypatch.setattr(index, "SHIPPED", path)
    monkeypatch.setattr(read_index, "__defaults__", (path,))
    return path


def test_a_newer_torchvision_gets_an_index_of_its_own_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path
) -> None:
    older(monkeypatch, tmp_path, lacking="squeezenet1_1")
    state = {key: tuple(value.shape) for key, value in without_data("squeezenet1_1").state_dict().items()}
    found = recognise(state)
    assert isinstance(found, Match)
    assert found.reference == "torchvision:squeezenet1_1"

    def never(known: object) -> list[Template]:
        raise AssertionError("it was cached")

    monkeypatch.setattr(index, "_make", never)
    assert recognise(state) == found
    (cached,) = own_cache.rglob("torchvision-*.json.gz")
    assert [template.name for template in read_index(cached)[1]] == ["squeezenet1_1"]


def test_a_damaged_cache_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cache: Path) -> None:
    older(monkeypatch, tmp_path, lacking="squeezenet1_1")
    version, templates = read_index()
    assert [template.name for template in more_templates(templates, version)] == ["squeezenet1_1"]
    (cached,) = own_cache.rglob("torchvision-*.json.gz")
    cached.write_bytes(cached.read_bytes()[:40])
    assert [template.name for template in more_templates(templates, version)] == ["squeezenet1_1"]


def test_the_same_torchvision_has_nothing_more(own_cache: Path) -> None:
    assert more_templates(TEMPLATES, metadata.version("torchvision").partition("+")[0]) == []
    assert not list(own_cache.rglob("*"))


def test_without_torchvision_the_shipped_index_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert more_templates([], "0.1.0") == []
    assert isinstance(recognise({"weight": (3, 4)}), NoMatch)
