"""Fit what turns the suites' seeded networks into ones that decide something.

Random features under a random head decide nothing: the largest logit is the same for every image or
differs by rounding, and agreement of a quantized target says nothing. So the head, the
normalisations and the depthwise convolutions learn to name each crop's photograph and quadrant (or
each pixel's colour); the rest stays as seeded, which keeps the files small. A transformer is too
slow to train here, and gets a head by ridge regression. The tagger is trained whole. Held-out
samples are only scored.

Run from the root of the repository: ``python -m suites.fit_heads [NAME ...]``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from suites import crops, models, tagger

BATCH = 40
RIDGE = 1e-1
TAGGER_STEPS = 1500
TAGGER_SEED = 3


@dataclass(frozen=True)
class Fit:
    """Fitted tensors by their name in the state dictionary, and the held-out accuracy."""

    tensors: dict[str, torch.Tensor]
    accuracy: float


def ridge(features: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Regress float [n, c] on standardised features, float [n, d]: weight [c, d] and bias [c].

    The penalty is RIDGE times n, so that it does not depend on the number of samples; the
    standardisation is folded into the result.
    """
    x, y = features.double(), target.double()
    mean, deviation = x.mean(0), x.std(0).clamp_min(1e-6)
    x = (x - mean) / deviation
    gram = x.T @ x + RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    weight = torch.linalg.solve(gram, x.T @ (y - y.mean(0))).T / deviation
    return weight.float(), (y.mean(0) - weight @ mean).float()


def batches(image: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield float32 [n, ...] in order, BATCH at a time."""
    for start in range(0, len(image), BATCH):
        yield image[start : start + BATCH]


def set_statistics(model: nn.Module, image: torch.Tensor) -> dict[str, torch.Tensor]:
    """Average batch normalisation's statistics over the images; return them by name.

    Leaves the model in eval mode.
    """
    model.eval()
    norms = {n: m for n, m in model.named_modules() if isinstance(m, nn.BatchNorm2d)}
    momentum = {name: norm.momentum for name, norm in norms.items()}
    for norm in norms.values():
        norm.reset_running_stats()
        norm.momentum = None
        norm.train()
    with torch.no_grad():
        for batch in batches(image):
            model(batch)
    for name, norm in norms.items():
        norm.momentum = momentum[name]
    model.eval()
    return {f"{n}.{b}": t.clone() for n, m in norms.items() for b, t in m.named_buffers()}


def logits(model: nn.Module, image: torch.Tensor) -> torch.Tensor:
    """Run the model and return its one output, float32 [n, c, ...]."""
    output = model(image)
    found: torch.Tensor = output["out"] if isinstance(output, dict) else output
    return found


def accuracy(model: nn.Module, image: torch.Tensor, target: torch.Tensor) -> float:
    """Return the share of decisions on float32 [n, 3, H, W] that are the target, int64 [n, ...]."""
    with torch.inference_mode():
        guessed = torch.cat([logits(model, batch).argmax(1) for batch in batches(image)])
    return float((guessed == target).double().mean())


def small_parameters(model: nn.Module, heads: tuple[str, ...]) -> dict[str, nn.Parameter]:
    """Return the parameters of the heads, the normalisations and the depthwise convolutions."""
    return {
        f"{name}.{key}": parameter
        for name, module in model.named_modules()
        if name in heads or isinstance(module, nn.BatchNorm2d) or (isinstance(module, nn.Conv2d) and module.groups > 1)
        for key, parameter in module.named_parameters(recurse=False)
    }


def train(
    model: nn.Module,
    heads: tuple[str, ...],
    image: torch.Tensor,
    target: torch.Tensor,
    epochs: int,
) -> dict[str, torch.Tensor]:
    """Train the small parameters to name the target, int64 [n, ...]; return what changed by name.

    Normalisation alone turns random features into useful ones (Frankle, Schwab and Morcos,
    "Training BatchNorm and Only BatchNorm", 2021), and it is small enough to commit.
    """
    parameters = small_parameters(model, heads)
    model.requires_grad_(requires_grad=False).train()
    for parameter in parameters.values():
        parameter.requires_grad_()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    loss_of = nn.CrossEntropyLoss()
    steps = epochs * -(-len(image) // BATCH)
    optimizer = torch.optim.AdamW(parameters.values(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    for _ in range(epochs):
        for chosen in batches(torch.randperm(len(image))):
            loss = loss_of(logits(model, image[chosen]), target[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
    statistics = set_statistics(model, image)
    return statistics | {name: p.detach().clone() for name, p in parameters.items()}


def fit_by_training(build: Callable[[], nn.Module], head: str, epochs: int) -> Fit:
    """Train a classifier with batch normalisation; ``head`` names its last layer."""
    model = build()
    parts = crops.draw()
    image = torch.from_numpy(crops.pixels(parts.training))
    labels = torch.from_numpy(crops.classes(parts.training))
    fitted = train(model, (head,), image, labels, epochs)
    held_out = torch.from_numpy(crops.pixels(parts.held_out))
    correct = accuracy(model, held_out, torch.from_numpy(crops.classes(parts.held_out)))
    return Fit(fitted, correct)


def fit_by_ridge(build: Callable[[], nn.Module], head: str) -> Fit:
    """Fit the last linear layer of a classifier that is too slow to train to name the photograph.

    Its quadrant is beyond frozen features: where they can tell it, int8 changes three answers in a hundred.
    """
    model = build().eval()
    parts = crops.draw()
    image = torch.from_numpy(crops.pixels(parts.training, crops.SMALL))
    labels = torch.from_numpy(crops.photographs_of(parts.training))
    features: list[torch.Tensor] = []
    layer = model.get_submodule(head)
    with torch.no_grad(), layer.register_forward_pre_hook(lambda _, x: features.append(x[0])):
        for batch in batches(image):
            model(batch)
    target = nn.functional.one_hot(labels, len(crops.PHOTOGRAPHS))
    weight, bias = ridge(torch.cat(features), target)
    fitted = {f"{head}.weight": weight, f"{head}.bias": bias}
    model.load_state_dict(fitted, strict=False)
    held_out = torch.from_numpy(crops.pixels(parts.held_out, crops.SMALL))
    correct = accuracy(model, held_out, torch.from_numpy(crops.photographs_of(parts.held_out)))
    return Fit(fitted, correct)


def fit_segmentation(epochs: int) -> Fit:
    """Train the segmentation network to name the colour of every pixel."""
    model = models.seeded_lraspp()
    heads = ("classifier.low_classifier", "classifier.high_classifier")
    parts = crops.draw()
    image = torch.from_numpy(crops.pixels(parts.training[: crops.N_FEW]))
    fitted = train(model, heads, image, crops.colours(image), epochs)
    held_out = torch.from_numpy(crops.pixels(parts.held_out))
    return Fit(fitted, accuracy(model, held_out, crops.colours(held_out)))


def fit_tagger() -> Fit:
    """Train the tagger on sequences that are drawn as it goes."""
    torch.manual_seed(TAGGER_SEED)
    rng = np.random.default_rng(TAGGER_SEED)
    model = tagger.BiLstmTagger().train()
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-2, total_steps=TAGGER_STEPS)
    for _ in range(TAGGER_STEPS):
        padded = int(rng.integers(1, tagger.MAX_LENGTH, endpoint=True))
        tokens = rng.integers(tagger.VOCABULARY, size=(BATCH, padded), dtype=np.int64)
        lengths = rng.integers((padded + 1) // 2, padded, size=BATCH, endpoint=True)
        tags = np.stack([tagger.tag(t, int(n)) for t, n in zip(tokens, lengths, strict=True)])
        output = model(torch.from_numpy(tokens), torch.from_numpy(lengths))
        inside = torch.from_numpy(tags) != tagger.PADDING_TAG
        loss = loss_of(output[inside], torch.from_numpy(tags)[inside])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    correct: list[bool] = []
    for sample in tagger.held_out():
        length = int(sample["lengths"])
        output = model(*(torch.from_numpy(sample[k][None]) for k in ("tokens", "lengths")))
        guessed = output[0].argmax(1).detach().numpy()
        correct += list((guessed == tagger.tag(sample["tokens"], length))[:length])
    return Fit(dict(model.state_dict()), float(np.mean(correct)))


def fits() -> dict[str, Callable[[], Fit]]:
    """Return how to fit each model, by the name of its file."""
    return {
        "resnet18": lambda: fit_by_training(models.seeded_resnet18, "fc", epochs=8),
        "mobilenet_v3_small": lambda: fit_by_training(models.seeded_mobilenet_v3_small, "classifier.3", epochs=15),
        "swin_t": lambda: fit_by_ridge(models.seeded_swin_t, "head"),
        "lraspp_mobilenet_v3_large": lambda: fit_segmentation(epochs=15),
        "bilstm_tagger": fit_tagger,
    }


def main() -> None:
    """Fit the models named on the command line, or all, and write ``heads/NAME.safetensors``."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*fits(), []], help="models to fit")
    for name in parser.parse_args().name or fits():
        fit = fits()[name]()
        metadata = {"heldout_accuracy": f"{fit.accuracy:.4f}"}
        save_file(fit.tensors, models.HEADS / f"{name}.safetensors", metadata=metadata)
        print(f"{name} {fit.accuracy:.4f}")  # noqa: T201  a script says what it reached


if __name__ == "__main__":
    main()
