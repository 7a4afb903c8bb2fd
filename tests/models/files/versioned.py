"""A module that minds which version of it wrote its weights."""

from __future__ import annotations

from typing import Any

from torch import nn


class Versioned(nn.Linear):
    """Refuses weights of a version that it does not know, as torchvision's MNASNet does."""

    _version = 2

    def _load_from_state_dict(self, state: Any, prefix: str, metadata: dict[str, Any], *rest: Any) -> None:
        if metadata.get("version") != self._version:
            raise ValueError(f"version should be 2 instead of {metadata.get('version')}")
        super()._load_from_state_dict(state, prefix, metadata, *rest)
