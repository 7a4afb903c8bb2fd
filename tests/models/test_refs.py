from __future__ import annotations

import functools
from pathlib import Path

import pytest

from parity.errors import ModelError, ParityError, UsageError
from parity.models.refs import is_reference, load_file, reference_to, resolve


def at_the_top() -> int:
    return 7


class AtTheTop:
    def method(self) -> None: ...


@pytest.fixture(autouse=True)
def plain_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """`resolve` puts the project's folder on `sys.path`; each test gets its own copy of it."""
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("package.module:factory", True),
        ("file.py:Net", True),
        ("a/b.py:Net.small", True),
        ("model.pt", False),
        ("C:weights", False),
        ("a:b c", False),
        (":name", False),
        ("module:", False),
        ("", False),
    ],
)
def test_what_is_a_reference(text: str, *, answer: bool) -> None:
    assert is_reference(text) is answer


def test_a_reference_leads_back_to_what_it_was_made_of(tmp_path: Path) -> None:
    for made in (at_the_top, AtTheTop):
        reference = reference_to(made)
        assert reference == f"{Path(__file__).resolve()}:{made.__name__}"
        assert resolve(reference, tmp_path) is made


@pytest.mark.parametrize(
    "function",
    [lambda: 1, AtTheTop.method, functools.partial(at_the_top), functools.lru_cache(lambda: 1), len, dict],
    ids=["lambda", "method", "partial", "cached lambda", "builtin function", "builtin class"],
)
def test_what_no_child_could_rebuild_is_refused_when_it_is_registered(function: object) -> None:
    with pytest.raises(UsageError):
        reference_to(function)  # type: ignore[arg-type]  # some are not even callable by type


def test_a_closure_is_refused() -> None:
    def inside() -> None: ...

    with pytest.raises(UsageError, match="child process"):
        reference_to(inside)


def test_a_file_is_imported_once_and_found_again_by_its_path(tmp_path: Path) -> None:
    path = write(tmp_path, "once.py", "made = []\n")
    assert load_file(path, tmp_path) is load_file(path, tmp_path)


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a/net.py", "x = 1\n"), write(tmp_path, "b/net.py", "x = 2\n")
    assert (load_file(one, tmp_path).x, load_file(two, tmp_path).x) == (1, 2)


def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path: Path) -> None:
    write(tmp_path, "refs_package/__init__.py", "")
    write(tmp_path, "refs_package/sizes.py", "width = 5\n")
    path = write(tmp_path, "refs_package/net.py", "from refs_package.sizes import width\n")
    assert load_file(path, tmp_path).__name__ == "refs_package.net"
    assert resolve("refs_package/net.py:width", tmp_path) == 5


@pytest.mark.parametrize("root", ["refs_outer/inner", "."], ids=["settings inside the package", "src layout"])
def test_a_package_keeps_its_own_name_wherever_the_settings_lie(tmp_path: Path, root: str) -> None:
    base = tmp_path / ("src" if root == "." else ".")
    outer = f"refs_outer_{base.name == 'src'}"
    write(base, f"{outer}/__init__.py", "")
    write(base, f"{outer}/inner/__init__.py", "")
    write(base, f"{outer}/sizes.py", "width = 5\n")
    path = write(base, f"{outer}/inner/net.py", "from ..sizes import width\n")
    loaded = load_file(path, path.parent if root != "." else tmp_path)
    assert (loaded.__name__, loaded.width) == (f"{outer}.inner.net", 5)


def test_a_project_folder_that_is_no_valid_name_is_no_package(tmp_path: Path) -> None:
    write(tmp_path, "a-project/__init__.py", "")
    path = write(tmp_path, "a-project/refs_alone.py", "x = 1\n")
    assert load_file(path, path.parent).__name__ == "refs_alone"


def test_a_file_may_import_its_neighbours_at_the_projects_root(tmp_path: Path) -> None:
    write(tmp_path, "refs_neighbour.py", "y = 3\n")
    write(tmp_path, "user.py", "from refs_neighbour import y\n")
    assert resolve("user.py:y", tmp_path) == 3


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("no_such_module_anywhere:x", "ModuleNotFoundError"),
        ("missing.py:x", "there is no such file"),
        ("raises.py:x", "ZeroDivisionError while importing it"),
        ("syntax.py:x", "SyntaxError while importing it"),
        ("fine.py:netw", "did you mean 'network'"),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_model_error(tmp_path: Path, reference: str, says: str) -> None:
    write(tmp_path, "raises.py", "1 / 0\n")
    write(tmp_path, "syntax.py", "def\n")
    write(tmp_path, "fine.py", "network = 1\n")
    with pytest.raises(ModelError) as caught:
        resolve(reference, tmp_path)
    assert says in str(caught.value)


def test_a_file_that_raised_is_tried_again(tmp_path: Path) -> None:
    path = write(tmp_path, "mended.py", "1 / 0\n")
    with pytest.raises(ModelError):
        load_file(path, tmp_path)
    path.write_text("x = 1  # longer, so that no cached bytecode fits\n")
    assert load_file(path, tmp_path).x == 1


def test_an_error_of_ours_passes_through_an_import_unchanged(tmp_path: Path) -> None:
    write(tmp_path, "ours.py", "from parity.errors import UsageError\nraise UsageError('mine')\n")
    with pytest.raises(ParityError, match="mine") as caught:
        resolve("ours.py:x", tmp_path)
    assert type(caught.value) is UsageError


def test_a_text_that_is_no_reference_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this factory cannot be read"):
        resolve("model.pt", tmp_path, "factory")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("nets.Net", "did you mean 'nets:Net'"), ("nets.py", "nets.py:NAME"), ("resnet18", "torchvision:resnet18"),
     ("nets.py:Net(3)", "without arguments")],
)  # fmt: skip
def test_what_is_nearly_a_factory_is_answered_with_how_it_is_written(tmp_path: Path, written: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(written, tmp_path, "factory")
    assert meant in (caught.value.hint or "")


def test_a_file_that_is_not_there_is_answered_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text("Net = dict\n")
    assert resolve("nets.py:Net", tmp_path) is dict
    with pytest.raises(ModelError, match=r"did you mean 'nets.py'"):
        resolve("net.py:Net", tmp_path)
