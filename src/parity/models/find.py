"""From what a user types as MODEL to a spec: a registered name, a file, or a factory."""

from __future__ import annotations

from pathlib import Path

from parity.errors import ModelError, UnknownName, UsageError, did_you_mean
from parity.models.kinds import check_checkpoint
from parity.models.refs import is_reference
from parity.models.registry import known_models, settings_models
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.settings import Settings

SUFFIXES = (".pt", ".pth", ".tar", ".bin", ".pt2", ".safetensors", ".onnx")

_INPUT_HINT = '--input "image: float32[N, 3, 224, 224]", one for each argument of forward'


def find_model(model: str, settings: Settings, *, arch: str | None = None, inputs: tuple[str, ...] = ()) -> ModelSpec:
    """The spec that MODEL stands for.

    Args:
        model: A registered name, the path of a checkpoint, or `package.module:factory`.
        settings: The project's settings.
        arch: `package.module:factory` of the module that a checkpoint belongs to.
        inputs: Written inputs; they replace the registered ones.

    Raises:
        UnknownName: no model is registered under the name and it is no path.
        UsageError: a file or a factory without what is needed to use it.
        ModelError: there is no such file.
    """
    # Registered files may import torch and more: they are read only for a model that the settings lack.
    spec = _known(model, settings_models(settings))
    if spec is None:
        known = known_models(settings)
        spec = _known(model, known) or _unregistered(model, settings, arch, inputs, known)
    changes = {"factory": arch, "signature": parse_signature(inputs) if inputs else None}
    return spec.with_changes(**changes)


def _known(model: str, known: dict[str, ModelSpec]) -> ModelSpec | None:
    """The model of that name, or the one that names that file as its weights."""
    if model in known:
        return known[model]
    path = Path(model).resolve()
    matches = (spec for spec in known.values() if spec.weights and (spec.root / spec.weights).resolve() == path)
    return next(matches, None)


def _unregistered(
    model: str, settings: Settings, arch: str | None, inputs: tuple[str, ...], known: dict[str, ModelSpec]
) -> ModelSpec:
    path = Path(model)
    is_file = path.exists() or path.suffix in SUFFIXES
    if not is_file and not is_reference(model):
        raise UnknownName(
            f"there is no model {model!r}",
            allowed="a registered name, a file, or package.module:factory",
            hint=f"{did_you_mean(model, known)} · parity models",
        )
    if is_file and not path.is_file():
        raise ModelError("there is no such model file", where=model, hint="parity models lists those known by name")
    if path.suffix == ".onnx":
        raise UsageError(
            "an ONNX file is an artifact, not a model",
            where=model,
            allowed="the PyTorch model that it was exported from",
            hint=f"parity report MODEL --artifact {model}",
        )
    if is_file and arch is None:
        # What the file is decides the message: no --arch would help where it is no checkpoint at all.
        check_checkpoint(path)
        raise UsageError(
            "a checkpoint holds weights and no architecture",
            where=model,
            allowed="--arch package.module:factory, or a model in parity.toml that names this file as its weights",
            hint=f'parity report {model} --arch package.module:factory --input "name: float32[N, ...]"',
        )
    if not inputs:
        raise UsageError("nothing says what the model's inputs are", where=model, hint=_INPUT_HINT)
    name = path.stem if is_file else model.rpartition(":")[2]
    return ModelSpec(
        name=name,
        factory=(arch or "") if is_file else model,
        signature=parse_signature(inputs),
        root=settings.root,
        weights=str(path.resolve()) if is_file else None,
        limits=settings.limits.frozen(),
    )
