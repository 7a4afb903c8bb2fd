"""Names that torchvision's own weights were saved under before its modules were renamed.

torchvision renames them while it loads its own files, in places that are private or depend on a version number which
`.safetensors` does not keep. Files of these layouts are still what its documentation links to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from parity.models.files.keys import Renamed, fit_names

_RENAMED: tuple[tuple[re.Pattern[str], str], ...] = (
    # densenet.py, _load_state_dict: dots were allowed in the names of modules
    (re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.([12]\.\w+)$"), r"\1\2"),
    # vision_transformer.py, MLPBlock._load_from_state_dict
    (re.compile(r"^(.*\.mlp)\.linear_1\.(weight|bias)$"), r"\1.0.\2"),
    (re.compile(r"^(.*\.mlp)\.linear_2\.(weight|bias)$"), r"\1.3.\2"),
    # ops/feature_pyramid_network.py and detection/rpn.py
    (re.compile(r"^(.*\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$"), r"\1.0.\2"),
    (re.compile(r"^(.*rpn\.head\.conv)\.(weight|bias)$"), r"\1.0.0.\2"),
)
"""How a name was written, and how it is written today."""


def modern_name(key: str) -> str:
    """A key as it would be written today, if it is of one of the old layouts."""
    return next((pattern.sub(new, key) for pattern, new in _RENAMED if pattern.match(key)), key)


def fit_names_of_any_age(
    keys: Iterable[str], known: Collection[str], leave: Collection[str] = ()
) -> tuple[Renamed, tuple[str, ...]]:
    """What `fit_names` finds for the keys as they are, or as they would be written today where more of them fit then.

    Returns:
        The new names, and the keys of the file that have an old one.
    """
    keys = list(keys)
    today = {key: modern_name(key) for key in keys}
    old = tuple(key for key, name in today.items() if key != name)
    plain = fit_names(keys, known, leave)
    if not old or len(set(today.values())) < len(keys):
        return plain, ()
    found = fit_names(today.values(), known, {today[key] for key in leave})
    names = {key: found.names[name] for key, name in today.items()}
    if sum(name in known for name in names.values()) <= sum(name in known for name in plain.names.values()):
        return plain, ()
    return Renamed(names, found.removed), old


def note_on_old(old: tuple[str, ...]) -> tuple[str, ...]:
    """What a reader should know of keys of an old layout."""
    if not old:
        return ()
    return (f"{len(old)} names are those of an older torchvision, such as {old[0]} for {modern_name(old[0])}",)
