"""A small convolutional classifier of 8x8 handwritten digits."""

import torch
from torch import nn


class ConvBlock(nn.Module):
    """3x3 convolution, batch normalisation and ReLU.

    Takes float32 [N, c_in, H, W] and returns float32 [N, c_out, H, W].
    """

    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(c_out)
        self.relu = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the activated features, same height and width as the input."""
        activated: torch.Tensor = self.relu(self.norm(self.conv(x)))
        return activated


class DigitsNet(nn.Module):
    """Four convolution blocks, two poolings and a linear head.

    Takes an image, float32 [N, 1, 8, 8] with pixels in 0..1, and returns logits, float32 [N, 10].
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            ConvBlock(1, 24),
            ConvBlock(24, 24),
            nn.MaxPool2d(2),
            ConvBlock(24, 48),
            ConvBlock(48, 48),
            nn.MaxPool2d(2),
        )
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(48 * 2 * 2, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return one logit a class, float32 [N, 10]."""
        features = torch.flatten(self.features(image), 1)
        logits: torch.Tensor = self.head(self.dropout(features))
        return logits
