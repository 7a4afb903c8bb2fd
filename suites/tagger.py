"""A bidirectional LSTM tagger of token sequences of any length, and sequences to judge it on."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

VOCABULARY = 500
MAX_LENGTH = 64
TAGS = 6
PADDING_TAG = 0

PADDED_LENGTHS = (1, 2, 3, 5, 8, 13, 21, 34, 64)
N_HELD_OUT = 198
N_CALIBRATION = 36
HELD_OUT_SEED = 5
CALIBRATION_SEED = 6


class BiLstmTagger(nn.Module):
    """Embedding, bidirectional LSTM and a linear layer at every position.

    Takes ``tokens``, int64 [N, T] in 0..499, and ``lengths``, int64 [N] in 1..T, and returns
    logits, float32 [N, T, TAGS]. Past a sequence's length the embedding is zero and the logits name
    PADDING_TAG, whatever the tokens there. A mask does this and not a packed sequence, whose
    data-dependent sizes torch.export does not trace. Annotations stay real objects, not strings,
    since torch.jit.script reads them.
    """

    padding_logits: torch.Tensor

    def __init__(self, width: int = 32, hidden: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, TAGS)
        padding_logits = torch.zeros(TAGS)
        padding_logits[PADDING_TAG] = 1.0
        self.register_buffer("padding_logits", padding_logits)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return one logit a tag and position, float32 [N, T, TAGS]."""
        position = torch.arange(tokens.shape[1], device=tokens.device)
        inside = (position.unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(2)
        embedded = self.embedding(tokens) * inside
        hidden, _ = self.lstm(embedded)
        return torch.where(inside, self.head(hidden), self.padding_logits)


def tag(tokens: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return the true tags of one sequence, int64 [T] from int64 [T].

    A token's group, its number modulo five, is its tag less one; after a token of group 0, or
    before a token of group 1 (but not both), it is the tag of the next group. The network has to
    look both ways for that.
    """
    group = tokens % 5
    before = np.concatenate([[-1], group[:-1]])
    after = np.concatenate([group[1:], [-1]])
    after[length - 1] = -1
    tags: NDArray[np.int64] = 1 + (group + ((before == 0) ^ (after == 1))) % 5
    tags[length:] = PADDING_TAG
    return tags


def sequences(n: int, seed: int) -> Iterator[dict[str, NDArray[np.int64]]]:
    """Draw ``n`` samples without the batch axis: ``tokens`` int64 [T] and ``lengths`` int64 [].

    T goes through PADDED_LENGTHS in turn and a length is between T / 2 and T.
    """
    rng = np.random.default_rng(seed)
    for i in range(n):
        padded = PADDED_LENGTHS[i % len(PADDED_LENGTHS)]
        yield {
            "tokens": rng.integers(VOCABULARY, size=padded, dtype=np.int64),
            "lengths": np.array(rng.integers((padded + 1) // 2, padded, endpoint=True), np.int64),
        }


def held_out() -> list[dict[str, NDArray[np.int64]]]:
    """Held-out sequences, 22 of each T, none of which was trained or calibrated on."""
    fitted = {bytes(s["tokens"]) for s in sequences(N_CALIBRATION, CALIBRATION_SEED)}
    fresh = sequences(N_HELD_OUT, HELD_OUT_SEED)
    return [s for s in fresh if bytes(s["tokens"]) not in fitted]


def calibration() -> list[dict[str, NDArray[np.int64]]]:
    """Calibration sequences, 4 of each T."""
    return list(sequences(N_CALIBRATION, CALIBRATION_SEED))
