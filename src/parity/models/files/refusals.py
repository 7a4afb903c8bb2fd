"""Why a checkpoint is not read as it is, said so that its owner knows both ways on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from parity.errors import ModelError
from parity.models.files.pickles import Outline, Thing
from parity.models.wording import listed, printable

HARMLESS = frozenset({
    # Containers and numbers: they make a value of their arguments and nothing else.
    "builtins.bool", "builtins.bytearray", "builtins.bytes", "builtins.complex", "builtins.dict", "builtins.float",
    "builtins.frozenset", "builtins.int", "builtins.list", "builtins.object", "builtins.range", "builtins.set",
    "builtins.slice", "builtins.str", "builtins.tuple", "collections.Counter", "collections.OrderedDict",
    "collections.defaultdict", "collections.deque", "decimal.Decimal", "fractions.Fraction", "_codecs.encode",
    # What scripts keep of how and when they were run.
    "argparse.Namespace", "types.SimpleNamespace", "uuid.UUID", "datetime.date", "datetime.datetime", "datetime.time",
    "datetime.timedelta", "datetime.timezone", "pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath",
    "pathlib.PurePosixPath", "pathlib.PureWindowsPath", "pathlib.WindowsPath", "pathlib._local.PosixPath",
    "pathlib._local.PurePosixPath", "pathlib._local.PureWindowsPath", "pathlib._local.WindowsPath",
    # A function with arguments bound to it, and a pattern: both are only kept until somebody uses them.
    "functools.partial", "re._compile",
    # Objects as the oldest protocols write them, and NumPy's numbers and arrays.
    "copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__", "numpy.dtype",
    *(f"numpy.{core}.{name}" for core in ("core", "_core")
      for name in ("multiarray.scalar", "multiarray._reconstruct", "numeric._frombuffer")),
})  # fmt: skip
"""What checkpoints call that is worth no refusal. None of it is called all the same: see `stand_ins`."""

_RANDOM_STATES = "numpy.random."

_TORCHS_OWN = (
    "torch._utils.", "torch._tensor.", "torch.storage.", "torch.serialization.", "torch.nn.parameter.",
    "torch.cuda.", "torch.sparse.",
)  # fmt: skip
_KEPT_BY_TORCH = frozenset({"collections.OrderedDict", "collections.Counter", "_codecs.encode"})

_LOADERS = frozenset({"torch.storage._load_from_bytes"})
"""What a tensor becomes in a pickle that torch.save did not write: torch.load, without its protection."""

_SHARDED = ("torch.distributed.tensor.", "torch.distributed._tensor.", "torch.distributed._shard.")

_TRUST = "add --trust-pickle if you trust whoever made the file"


def is_torchs_own(name: str) -> bool:
    """Whether torch's own reader decides on a global: how tensors, storages and dtypes are kept."""
    return (
        name.startswith(_TORCHS_OWN) or name in _KEPT_BY_TORCH or (name.startswith("torch.") and name.count(".") == 1)
    )


def unread(outline: Outline) -> tuple[str, ...]:
    """Classes and functions of others whose objects are left unread beside the weights."""
    common = (*_SHARDED, _RANDOM_STATES, "builtins.", "numpy.")
    return tuple(
        name
        for name in outline.globals
        if not is_torchs_own(name) and name not in HARMLESS and not name.startswith(common)
    )


def code_that_would_run(outline: Outline) -> tuple[str, ...]:
    """The functions that reading a pickle would call.

    Making an object of somebody's class is none, nor what `HARMLESS` and torch itself call. A name of the standard
    library that is not on the list is one, whatever it looks like.
    """
    names = (name for name in outline.called if not _makes_an_object(name))
    return tuple(known for name in names for known in outline.globals[name].attributes or [_known_as(name)])


def _makes_an_object(name: str) -> bool:
    if name in _LOADERS:
        return False
    if name in HARMLESS or is_torchs_own(name) or name.startswith(_RANDOM_STATES):
        return True
    own = name.partition(".")[0] not in sys.stdlib_module_names
    return own and name.rpartition(".")[2].lstrip("_")[:1].isupper()


def _known_as(name: str) -> str:
    module, _, function = name.partition(".")
    return f"{name} (os.{function})" if module in ("posix", "nt") else name


def refusal(path: Path, outline: Outline, *, plain: bool) -> ModelError | None:
    """Why a checkpoint may not be read at all without trust, or None where torch's reader may try.

    Args:
        path: The file.
        outline: What it holds.
        plain: Whether it is a pickle that torch.save did not write.
    """
    calls = code_that_would_run(outline)
    if sharded := [name for name in outline.globals if name.startswith(_SHARDED)]:
        return ModelError(
            "the checkpoint holds the shards of a distributed run, not whole tensors",
            where=str(path),
            allowed="whole tensors",
            got=printable(sharded[0]),
            hint="gather them where they were trained: get_model_state_dict(model, options=StateDictOptions("
            "full_state_dict=True)), then torch.save",
        )
    if plain:
        return ModelError(
            "this file is a plain pickle, not a checkpoint that torch.save wrote",
            where=str(path),
            allowed="torch.save(model.state_dict(), ...)",
            got=described(outline.held) + (f"; reading it would run code: {listed(calls)}" if calls else ""),
            hint=f"load it where it was made and torch.save its weights, or {_TRUST}",
        )
    if calls and not any(not where for where, _ in outline.modules()):
        return ModelError(
            f"reading the model file would run code of its own: it calls {listed(calls)}",
            where=str(path),
            allowed="tensors, and plain values beside them",
            hint=f"save model.state_dict() instead, or {_TRUST}",
        )
    return None


def oldest_format(path: Path) -> ModelError:
    """What to say of a tar archive of torch 0.1, which torch reads without any protection only."""
    return ModelError(
        "the checkpoint is in the tar format of torch 0.1, and reading it may run code of its own",
        where=str(path),
        allowed="what torch.save has written since torch 0.2",
        hint=f"load it where it is trusted and torch.save its state_dict again, or {_TRUST}",
    )


def whole_module(path: Path, outline: Outline) -> ModelError | None:
    """What to say of a file that holds whole pickled modules and no weights beside them; None where it holds none."""
    modules = outline.modules()
    if not modules:
        return None
    where, kind = modules[0]
    others = [f"{name!r}: {other}" for name, other in modules[1:]]
    calls = code_that_would_run(outline)
    package, _, name = kind.rpartition(".")
    return ModelError(
        f"the model file holds a whole pickled module of class {printable(kind)}, "
        "and reading it would run code of its own",
        where=str(path),
        allowed="a state_dict: torch.save(model.state_dict(), ...)",
        got=(f"{printable(kind)} under {where!r}" if where else f"a pickled {printable(kind)}")
        + (f", and {listed(others)}" if others else "")
        + (f"; it also calls {listed(calls)}" if calls else ""),
        hint=f"save model.state_dict() and pass --arch {printable(package)}:{printable(name)}, or {_TRUST}",
    )


def described(held: object) -> str:
    """What a pickle holds, in a few words."""
    if isinstance(held, Thing):
        return f"a pickled {printable(held.maker)}"
    if isinstance(held, Mapping):
        return f"a dictionary with {listed([repr(key) for key in held]) or 'nothing in it'}"
    if isinstance(held, (list, tuple)):
        return f"a {type(held).__name__} of {len(held)}"
    return f"a pickled {type(held).__name__}"
