"""Train DigitsNet on scikit-learn's digits and write the checkpoint and the data it is judged on.

The split, the initial weights, the order of the batches and the dropout masks are all seeded, and
one thread does the arithmetic, so that a retraining reaches the same accuracy. The number of epochs
is fixed and the last weights are kept: nothing is chosen by looking at the held-out part.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from examples.digits.model import DigitsNet

HERE = Path(__file__).resolve().parent
SEED = 20240601
EPOCHS = 40
BATCH = 64
PEAK_LEARNING_RATE = 4e-3
N_HELD_OUT = 540
N_CALIBRATION = 240
PIXEL_MAX = 16.0


@dataclass(frozen=True)
class Split:
    """Indices into ``load_digits`` of three disjoint parts, each int64 [n]."""

    train: NDArray[np.int64]
    calibration: NDArray[np.int64]
    heldout: NDArray[np.int64]


@dataclass(frozen=True)
class Digits:
    """All 1,797 images, float32 [n, 1, 8, 8] in 0..1, and their labels, int64 [n]."""

    image: NDArray[np.float32]
    labels: NDArray[np.int64]


def load() -> Digits:
    """Read the digits that ship with scikit-learn."""
    bunch = load_digits()
    image = (bunch.images[:, None] / PIXEL_MAX).astype(np.float32)
    return Digits(image=image, labels=bunch.target.astype(np.int64))


def split(digits: Digits) -> Split:
    """Divide the digits into training, calibration and held-out parts, stratified by label.

    Raises:
        ValueError: a held-out image also occurs, pixel for pixel, in another part.
    """
    everything = np.arange(len(digits.labels), dtype=np.int64)
    rest, heldout = train_test_split(everything, test_size=N_HELD_OUT, stratify=digits.labels, random_state=SEED)
    train, calibration = train_test_split(
        rest, test_size=N_CALIBRATION, stratify=digits.labels[rest], random_state=SEED
    )
    seen = {digits.image[i].tobytes() for i in rest}
    repeated = [int(i) for i in heldout if digits.image[i].tobytes() in seen]
    if repeated:
        raise ValueError(f"held-out digits {repeated} are exact copies of digits in another part")
    return Split(train=np.sort(train), calibration=np.sort(calibration), heldout=np.sort(heldout))


def fit(image: torch.Tensor, labels: torch.Tensor) -> DigitsNet:
    """Train on float32 [n, 1, 8, 8] and int64 [n]; return the network after the last epoch."""
    torch.manual_seed(SEED)
    model = DigitsNet().train()
    steps = -(-len(labels) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=PEAK_LEARNING_RATE, epochs=EPOCHS, steps_per_epoch=steps
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    for _ in range(EPOCHS):
        order = torch.randperm(len(labels))
        for start in range(0, len(labels), BATCH):
            batch = order[start : start + BATCH]
            loss = loss_of(model(jitter(image[batch])), labels[batch])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def jitter(image: torch.Tensor) -> torch.Tensor:
    """Shift a batch, float32 [n, 1, 8, 8], by at most one pixel down and across, filling with 0."""
    padded = nn.functional.pad(image, (1, 1, 1, 1))
    down, across = torch.randint(0, 3, (2,)).tolist()
    return padded[:, :, down : down + 8, across : across + 8]


def accuracy(model: nn.Module, image: torch.Tensor, labels: torch.Tensor) -> float:
    """Return the share of float32 [n, 1, 8, 8] whose largest logit is the label, int64 [n]."""
    with torch.inference_mode():
        return float((model(image).argmax(1) == labels).double().mean())


def run(out: Path) -> dict[str, float]:
    """Train, write the files of this folder to ``out`` and return the metric."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    digits = load()
    parts = split(digits)
    image, labels = torch.from_numpy(digits.image), torch.from_numpy(digits.labels)
    model = fit(image[parts.train], labels[parts.train])
    metric = {
        "train_accuracy": accuracy(model, image[parts.train], labels[parts.train]),
        "heldout_accuracy": accuracy(model, image[parts.heldout], labels[parts.heldout]),
    }
    out.mkdir(parents=True, exist_ok=True)
    torch.save({"state_dict": model.state_dict(), "epoch": EPOCHS, "metric": metric}, out / "model.pt")
    np.savez_compressed(out / "heldout.npz", image=digits.image[parts.heldout], labels=digits.labels[parts.heldout])
    np.savez_compressed(out / "calibration.npz", image=digits.image[parts.calibration])
    indices = {name: values.tolist() for name, values in vars(parts).items()}
    (out / "split.json").write_text(json.dumps(indices) + "\n")
    return metric


def check() -> int:
    """Retrain beside the committed files; return 0 if the committed metric comes out again."""
    committed = torch.load(HERE / "model.pt", weights_only=True)["metric"]
    with tempfile.TemporaryDirectory() as folder:
        retrained = run(Path(folder))
    print(f"committed {committed}\nretrained {retrained}")
    if retrained == committed:
        return 0
    print("the accuracies differ: run `python -m examples.digits.train` and commit what it writes", file=sys.stderr)
    return 1


def main() -> int:
    """Parse the command line and train, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    parser.add_argument(
        "--check",
        action="store_true",
        help="retrain elsewhere and compare the metric",
    )
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    for name, value in run(arguments.out).items():
        print(f"{name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
