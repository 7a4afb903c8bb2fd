"""What a pickle holds, found out without running anything that it names.

A pickle is a program for a small machine, and the only way out of that machine is the import of a global.
Here every global is a stand-in that remembers what it was used for, so that the program runs and nothing
that it asks for happens.
"""

from __future__ import annotations

import _compat_pickle  # the names that Python 2 had for them; pickle's own reader maps with it, and so does torch's
import pickle
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from parity.errors import ModelError
from parity.models.files.kinds import ZIP

LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files of torch.save began before torch 1.6: a pickled number."""

_BEFORE_THE_OBJECT = 3
"""Pickles before the saved object in such a file: the magic number, the protocol version, the system's facts."""

_MAKERS = frozenset({"copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__"})
"""How old protocols make an object of the class that comes first: making it is all that they do."""

_MODULE_STATE = ("_parameters", "_buffers", "_modules")
_DEPTH = 3
"""Levels of dictionaries in which a whole module is looked for."""


_ATTRIBUTE = "builtins.getattr"
"""How a pickle gets at the methods of a class."""


@dataclass
class Seen:
    """What a pickle did with one global.

    `called`: called it. `used`: filled what it made as a `mapping` or a `sequence`. `attributes`: what it was asked
    for, where it is `getattr`.
    """

    called: bool = False
    used: set[str] = field(default_factory=set)
    attributes: list[str] = field(default_factory=list)


class _Watched(type):
    """The type of stand-ins, which notices that one is called."""

    path: str
    seen: Seen

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        cls.seen.called = True
        return super().__call__(*args, **kwargs)


class Thing(metaclass=_Watched):
    """What stands for an object of a class that was never imported."""

    path: ClassVar[str]
    seen: ClassVar[Seen]

    def __new__(cls, *args: Any, **_: Any) -> Any:
        """Keep what it was made with."""
        made = object.__new__(cls)
        made.args = args
        made.state = None
        made.maker = args[0].path if cls.path in _MAKERS and args and isinstance(args[0], _Watched) else cls.path
        if cls.path == _ATTRIBUTE and len(args) > 1:
            owner = args[0] if isinstance(args[0], _Watched) else type(args[0])
            cls.seen.attributes.append(f"{getattr(owner, 'path', owner.__name__)}.{args[1]}")
        return made

    def __init__(self, *_: Any, **__: Any) -> None:
        self.args: tuple[Any, ...]
        self.state: Any
        self.maker: str

    def __call__(self, *args: Any, **_: Any) -> Any:
        """What a function gave back may be called in its turn."""
        self.seen.called = True
        return type(self).__new__(type(self), *args)

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.used.add("mapping")

    def append(self, _: Any) -> None:
        """What lists and their heirs are filled with."""
        self.used.add("sequence")

    extend = add = append

    @property
    def used(self) -> set[str]:
        """What objects of the class were filled as."""
        return type(self).seen.used


@dataclass(frozen=True)
class Outline:
    """What a pickle holds: `held` has stand-ins for every object, `globals` what was done with each name."""

    held: Any
    globals: Mapping[str, Seen]

    @property
    def called(self) -> tuple[str, ...]:
        """The functions and classes that reading it would call, in the order of the file."""
        return tuple(name for name, seen in self.globals.items() if seen.called)

    def modules(self) -> tuple[tuple[str, str], ...]:
        """Where whole modules lie (`""` for the file itself) and their classes."""
        return tuple(_modules(self.held, "", _DEPTH))


class _Reader(pickle.Unpickler):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, encoding="latin-1")
        self.made: dict[str, type] = {}
        self.globals: dict[str, Seen] = {}

    def find_class(self, module: str, name: str) -> Any:
        path = _today(module, name)
        if path not in self.made:
            self.globals[path] = Seen()
            self.made[path] = _Watched(name, (Thing,), {"path": path, "seen": self.globals[path]})
        return self.made[path]

    def persistent_load(self, pid: Any) -> Any:
        # Before torch 1.6 a module's class came with its source text.
        return pid[1] if isinstance(pid, tuple) and pid[:1] == ("module",) else pid


def _today(module: str, name: str) -> str:
    """The dotted name that a global of Python 2 has today."""
    if (module, name) in _compat_pickle.NAME_MAPPING:
        return ".".join(_compat_pickle.NAME_MAPPING[module, name])
    return f"{_compat_pickle.IMPORT_MAPPING.get(module, module)}.{name}"


def outline(path: Path) -> Outline:
    """What a checkpoint holds: the pickle in torch's zip archive, the one behind the old header, or the file itself.

    Raises:
        ModelError: the pickle is damaged.
    """
    try:
        with _pickle(path) as file:
            if file.read(len(LEGACY_MAGIC)) == LEGACY_MAGIC:
                for _ in range(_BEFORE_THE_OBJECT - 1):
                    _Reader(file).load()
            else:
                file.seek(0)
            reader = _Reader(file)
            return Outline(reader.load(), reader.globals)
    except Exception as error:  # a damaged pickle makes the machine raise whatever its words say
        first = str(error).strip().splitlines()
        raise ModelError(
            "the model file is damaged or truncated",
            where=str(path),
            got=first[0] if first else type(error).__name__,
            hint="copy it again",
        ) from error


def _pickle(path: Path) -> BinaryIO:
    file = path.open("rb")
    if file.read(len(ZIP)) != ZIP:
        file.seek(0)
        return file
    file.close()
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        return archive.open(name)  # type: ignore[return-value]  # reads and seeks as any other


def is_plain_pickle(path: Path) -> bool:
    """Whether a checkpoint is a pickle that torch.save did not write."""
    with path.open("rb") as file:
        head = file.read(len(LEGACY_MAGIC))
    return head[:1] == b"\x80" and head != LEGACY_MAGIC


def _modules(held: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(held, Thing):
        if _is_module(held) and (not path or _has_weights(held)):
            yield path, held.maker
    elif isinstance(held, dict) and depth:
        for key, value in held.items():
            yield from _modules(value, f"{path}.{key}" if path else str(key), depth - 1)


def _is_module(thing: Thing) -> bool:
    return isinstance(thing.state, dict) and all(isinstance(thing.state.get(key), Mapping) for key in _MODULE_STATE)


def _has_weights(thing: Thing) -> bool:
    """Whether a module is more than a loss or an activation that is kept beside the weights."""
    return bool(thing.state["_modules"]) or any(value is not None for value in thing.state["_parameters"].values())


def stand_ins(
    seen: Mapping[str, Seen], spared: Callable[[str], bool]
) -> list[Callable[..., Any] | tuple[Callable[..., Any], str]]:
    """Classes that torch's reader can be given in place of the globals of a pickle; those `spared` are left out.

    None of them does anything. A filled one makes a plain container, since torch fills no other.
    """
    return [_stand_in(name, each) for name, each in seen.items() if not spared(name)]


def _stand_in(path: str, seen: Seen) -> type:
    from collections import OrderedDict  # noqa: PLC0415

    module, _, name = path.rpartition(".")
    container = OrderedDict if "mapping" in seen.used else list if "sequence" in seen.used else None

    def make(cls: type, *_: Any, **__: Any) -> Any:
        return object.__new__(cls) if container is None else container()

    names = {"__new__": make, "__init__": _ignore, "__setstate__": _ignore, "__module__": module, "__qualname__": name}
    return type(name, (), names)


def _ignore(*_: Any, **__: Any) -> None:
    """Do nothing with whatever comes."""
