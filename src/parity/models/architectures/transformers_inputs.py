"""The inputs of a transformers model, from its config and from what its `forward` takes."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

MAX_TOKENS = 128
"""The longest text that is promised, where the model takes that many tokens. A longer one is a matter of `--input`:
the cost of attention grows with its square, and 512 tokens are sixteen times 128."""

SAMPLE_RATE = 16000
"""Samples a second of a sound, where no preprocessor says it: what speech models are trained on."""

_SECONDS = (1, 2)
"""The shortest and the longest sound that is promised, in seconds."""

_PREPROCESSOR = "preprocessor_config.json"


def inputs_of(made: Any, config: Any, folder: Path) -> tuple[str, ...] | None:
    """The written inputs of a model class with a config, or None for a class that takes what only its processor makes.

    Args:
        made: The class.
        config: Its config, as transformers reads it.
        folder: Where the preprocessor's settings lie, if there are any.
    """
    taken = inspect.signature(made.forward).parameters
    main = getattr(made, "main_input_name", None)
    if hasattr(config, "vision_config") and hasattr(config, "text_config"):
        # How many tokens an image stands for, and where, is known to the processor alone.
        return None
    if main == "input_ids":
        return _text(made, config, taken)
    if main == "pixel_values":
        return _image(config, folder)
    if main in ("input_values", "input_features"):
        return _sound(main, config, taken, folder)
    return None


def _text(made: Any, config: Any, taken: Any) -> tuple[str, ...] | None:
    vocabulary = getattr(config, "vocab_size", None)
    if not isinstance(vocabulary, int):
        return None
    longest = min(MAX_TOKENS, _positions(made, config) or MAX_TOKENS)
    mask = ("attention_mask: int64[N, T] in 0..1",) if "attention_mask" in taken else ()
    return (f"input_ids: int64[N, T in 1..{longest}] in 0..{vocabulary - 1}", *mask, *_decoder(config, taken, longest))


def _decoder(config: Any, taken: Any, most: int) -> tuple[str, ...]:
    if "decoder_input_ids" not in taken or not getattr(config, "is_encoder_decoder", False):
        return ()
    vocabulary = getattr(config, "decoder_vocab_size", None) or config.vocab_size
    longest = min(most, getattr(config, "max_target_positions", None) or most)
    return (f"decoder_input_ids: int64[N, U in 1..{longest}] in 0..{vocabulary - 1}",)


def _positions(made: Any, config: Any) -> int | None:
    """How many tokens there are positions for: those of a RoBERTa begin after the padding's."""
    with torch.device("meta"):
        module = made(config)
    for name, each in module.named_modules():
        if name.endswith(("position_embeddings", "embed_positions")) and isinstance(each, nn.Embedding):
            if each.padding_idx is not None and name.endswith("position_embeddings"):
                return int(each.num_embeddings - each.padding_idx - 1)
            break
    found = getattr(config, "max_position_embeddings", None)
    return found if isinstance(found, int) and found > 0 else None


def _image(config: Any, folder: Path) -> tuple[str, ...] | None:
    size = _square(getattr(config, "image_size", None)) or _preprocessed(folder)
    if size is None:
        return None
    frames = getattr(config, "num_frames", None)
    dims = ("N", *((frames,) if isinstance(frames, int) else ()), getattr(config, "num_channels", 3), *size)
    return (f"pixel_values: float32[{', '.join(map(str, dims))}]",)


def _preprocessed(folder: Path) -> tuple[int, int] | None:
    """Height and width of what the folder's own preprocessor makes of an image."""
    held = _settings(folder)
    cropped = _square(held.get("crop_size")) if held.get("do_center_crop", True) else None
    return cropped or _square(held.get("size"))


def _square(size: Any) -> tuple[int, int] | None:
    if isinstance(size, int):
        return size, size
    if isinstance(size, dict) and {"height", "width"} <= size.keys():
        return int(size["height"]), int(size["width"])
    if isinstance(size, dict) and "shortest_edge" in size:
        return int(size["shortest_edge"]), int(size["shortest_edge"])
    if isinstance(size, (list, tuple)) and len(size) == len(("height", "width")):
        return int(size[0]), int(size[1])
    return None


def _sound(name: str, config: Any, taken: Any, folder: Path) -> tuple[str, ...] | None:
    bins = getattr(config, "num_mel_bins", None)
    if name == "input_features":
        frames = getattr(config, "max_source_positions", None)
        if not isinstance(bins, int) or not isinstance(frames, int):
            return None
        # Whisper's second convolution takes every other frame.
        return (f"input_features: float32[N, {bins}, {2 * frames}]", *_decoder(config, taken, MAX_TOKENS))
    if getattr(config, "conv_kernel", None):
        rate = int(_settings(folder).get("sampling_rate", SAMPLE_RATE))
        shortest, longest = (seconds * rate for seconds in _SECONDS)
        return (f"input_values: float32[N, L in {shortest}..{longest}]",)
    frames = getattr(config, "max_length", None)
    return (f"input_values: float32[N, {frames}, {bins}]",) if isinstance(frames, int) and bins else None


def _settings(folder: Path) -> dict[str, Any]:
    try:
        held = json.loads((folder / _PREPROCESSOR).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}
