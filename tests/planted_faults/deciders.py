"""Models whose outputs are decisions, and the same models with one fault each or with a harmless difference."""

from __future__ import annotations

import torch
from torch import nn

FEATURES = 12
SIDE = 6


class Segmenter(nn.Module):
    """Float32 [N, 1, 6, 6] to scores [N, 3, 6, 6]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(1, 3, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return a score for each class and pixel."""
        scores: torch.Tensor = self.conv(image)
        return scores


class SegmenterSwapped(Segmenter):
    """Two classes the other way round."""

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return the scores with the first two classes swapped."""
        return super().forward(image)[:, [1, 0, 2]]


class Detector(nn.Module):
    """Float32 [12] to the best eight of twenty boxes, with scores and labels."""

    anchors: torch.Tensor
    kinds: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.place = nn.Linear(FEATURES, 80)
        self.score = nn.Linear(FEATURES, 20)
        corners = torch.stack([torch.arange(20) % 5, torch.arange(20) // 5], 1) * 40.0
        self.register_buffer("anchors", torch.cat([corners, corners + 30], 1))
        self.register_buffer("kinds", torch.arange(20) % 3)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return those of the best eight whose score is above a half."""
        scores = torch.sigmoid(self.score(x))
        scores, chosen = scores.topk(8)
        boxes = (self.anchors + self.place(x).reshape(20, 4))[chosen]
        kept = scores > 0.5
        return {"boxes": boxes[kept], "scores": scores[kept], "labels": self.kinds[chosen][kept]}


class DetectorTurned(Detector):
    """The same boxes in another order, which says nothing."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the boxes from the last to the first."""
        return {name: each.flip(0) for name, each in super().forward(x).items()}


class DetectorMoved(Detector):
    """One box is a hundredth of a pixel too far to the right."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the boxes, the first of them moved."""
        found = super().forward(x)
        first = (torch.arange(found["boxes"].shape[0]) == 0).float()[:, None]
        return {**found, "boxes": found["boxes"] + 0.01 * first}


class DetectorDrops(Detector):
    """The best box is left out."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the boxes from the second on."""
        return {name: each[1:] for name, each in super().forward(x).items()}


class Embedder(nn.Module):
    """Float32 [N, 12] to an embedding [N, 8]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(FEATURES, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the vectors."""
        vectors: torch.Tensor = self.linear(x)
        return vectors


class EmbedderLonger(Embedder):
    """Vectors that are twice as long: another function, and the same directions and neighbours."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the vectors, scaled."""
        return super().forward(x) * 2


class EmbedderTurned(Embedder):
    """Coordinates that have changed places."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the vectors with their coordinates in another order."""
        return super().forward(x).roll(3, 1)


class Ranks(nn.Module):
    """Float32 [N, 12] to the four best of rounded scores, which are often equal, and the order of exact ones."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = nn.Linear(FEATURES, 9)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values and indices of the best, and the order of all."""
        scores = self.linear(x)
        values, indices = torch.sort((scores * 2).round() / 2, descending=True, stable=True)
        return values[:, :4], indices[:, :4], scores.argsort(1)


class RanksTurned(Ranks):
    """Equal scores in the other order, which is as good."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the same, the last of equal scores first."""
        scores = self.linear(x)
        values, indices = torch.sort(((scores * 2).round() / 2).flip(1), descending=True, stable=True)
        return values[:, :4], 8 - indices[:, :4], scores.argsort(1)


class RanksWrong(Ranks):
    """The index of the best is off by one."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the same with another first index."""
        values, indices, order = super().forward(x)
        return values, torch.cat([(indices[:, :1] + 1) % 9, indices[:, 1:]], 1), order


class RanksDisordered(Ranks):
    """The order of all scores, with two that are far apart swapped."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the same with the first and the last of the order swapped."""
        values, indices, order = super().forward(x)
        return values, indices, order[:, [8, 1, 2, 3, 4, 5, 6, 7, 0]]
