"""What an input stands for, from its name, dtype and shape, where random samples have to be made for it."""

from __future__ import annotations

import enum
import re

import numpy as np

from parity.models.signature import DTYPES, Dim, InputSpec


class Role(enum.Enum):
    """What is drawn for an input."""

    IMAGE = "image"
    SOUND = "sound"
    MASK = "mask"
    PADDING = "padding"
    SEGMENTS = "segments"
    POSITIONS = "positions"
    LENGTH = "length"
    NUMBERS = "numbers"


LONG = 256
"""A row of that many floats is taken for a signal: fewer are more often features."""

_CHANNELS = (1, 3, 4)
_FEW = 8
_IMAGE = re.compile(r"image|img|pixel|frame|photo|picture|video", re.IGNORECASE)
_SOUND = re.compile(r"audio|wav|signal|speech|sound|pcm|ecg|eeg", re.IGNORECASE)
_PADDING = re.compile(r"pad(ding)?_?mask", re.IGNORECASE)
_SEGMENTS = re.compile(r"token_type|segment", re.IGNORECASE)
_LENGTH = re.compile(r"len(gth)?s?$|_len(gth)?s?(_|$)", re.IGNORECASE)


def role_of(spec: InputSpec, dims: tuple[Dim, ...]) -> Role:
    """The role of an input whose samples have these `dims` (without the batch)."""
    kind = np.dtype(DTYPES[spec.dtype]).kind
    whole = kind in "iu"
    if "mask" in spec.name.lower() and dims and (kind in "iubf"):
        # torch's padding masks are true where there is nothing, those of integers are one where there is something.
        return Role.PADDING if kind == "b" and _PADDING.search(spec.name) else Role.MASK
    if whole and dims and _SEGMENTS.search(spec.name):
        return Role.SEGMENTS
    if whole and dims and "position" in spec.name.lower():
        return Role.POSITIONS
    if whole and len(dims) <= 1 and (is_length(spec.name) or _is_symbol(spec.high)):
        return Role.LENGTH
    if (kind == "f" or spec.dtype == "uint8") and _is_image(spec, dims):
        return Role.IMAGE
    return Role.SOUND if kind == "f" and _is_sound(spec, dims) else Role.NUMBERS


def is_length(name: str) -> bool:
    """Whether an input is called a length."""
    return _LENGTH.search(name) is not None


def channel_axis(dims: tuple[Dim, ...]) -> int | None:
    """The axis of an image's colours: before its height and width, or after them."""
    if len(dims) < 3:  # noqa: PLR2004  # height and width alone
        return None
    if dims[-3].size in _CHANNELS:
        return len(dims) - 3
    return len(dims) - 1 if dims[-1].size in _CHANNELS else None


def _is_image(spec: InputSpec, dims: tuple[Dim, ...]) -> bool:
    if len(dims) >= 2 and _IMAGE.search(spec.name):  # noqa: PLR2004  # height and width
        return True
    return len(dims) == 3 and channel_axis(dims) is not None  # noqa: PLR2004  # with colours


def _is_sound(spec: InputSpec, dims: tuple[Dim, ...]) -> bool:
    if not 1 <= len(dims) <= 2:  # noqa: PLR2004  # with channels at most
        return False
    if _SOUND.search(spec.name):
        return True
    few = len(dims) == 1 or (dims[0].size is not None and dims[0].size <= _FEW)
    return few and (dims[-1].size is None or dims[-1].size >= LONG)


def _is_symbol(bound: str | None) -> bool:
    return bound is not None and bound.isidentifier()
