"""Names that torchvision's own weights were saved under before its modules were renamed.

torchvision renames them while it loads its own files, in places that are private or depend on a version number which
`.safetensors` does not keep. Files of these layouts are still what its documentation links to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_RENAMED: tuple[tuple[re.Pattern[str], str], ...] = (
    # densenet.py, _load_state_dict: dots were allowed in the names of modules
    (re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.([12]\.\w+)$"), r"\1\2"),
    # vision_transformer.py, MLPBlock._load_from_state_dict
    (re.compile(r"^(.*\.mlp)\.linear_1\.(weight|bias)$"), r"\1.0.\2"),
    (re.compile(r"^(.*\.mlp)\.linear_2\.(weight|bias)$"), r"\1.3.\2"),
    # ops/feature_pyramid_network.py and detection/rpn.py
    (re.compile(r"^(.*\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$"), r"\1.0.\2"),
    (re.compile(r"^(rpn\.head\.conv)\.(weight|bias)$"), r"\1.0.0.\2"),
)
"""How a name was written, and how it is written today."""


def modern_names(keys: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Old name to today's name, for keys that are not known and whose name of today is."""
    found: dict[str, str] = {}
    for key in keys:
        if key not in known:
            renamed = (pattern.sub(new, key) for pattern, new in _RENAMED if pattern.match(key))
            today = next((name for name in renamed if name in known), None)
            if today is not None:
                found[key] = today
    return found
