"""From what a user types as MODEL to a draft of it: a registered name, a file, or a factory."""

from __future__ import annotations

from pathlib import Path

from parity.errors import UnknownName, UsageError, did_you_mean
from parity.models.architectures import is_architecture
from parity.models.architectures.transformers import CONFIG
from parity.models.draft import Draft, written_signature
from parity.models.files.kinds import EXPORTED_PROGRAM, ONNX, TORCHSCRIPT, file_kind
from parity.models.refs import is_reference
from parity.models.registry import known_models, settings_models
from parity.models.signature import parse_signature
from parity.models.spec import PROGRAM as PROGRAM_FILE
from parity.models.spec import TORCHSCRIPT as TORCHSCRIPT_FILE
from parity.models.spec import ModelSpec
from parity.models.wording import address_hint, typed
from parity.settings import Settings

SUFFIXES = (".pt", ".pth", ".tar", ".bin", ".pt2", ".safetensors", ".onnx", ".ckpt", ".jit", ".ts")
"""What is a path even where there is no such file."""

_SCHEMES = {TORCHSCRIPT: TORCHSCRIPT_FILE, EXPORTED_PROGRAM: PROGRAM_FILE}


def find_model(model: str, settings: Settings, *, arch: str | None = None, inputs: tuple[str, ...] = ()) -> Draft:
    """The draft that MODEL stands for; no file is read further than to know its kind.

    Args:
        model: A registered name, the path of a file, `package.module:factory`, or an architecture by name.
        settings: The project's settings.
        arch: `package.module:factory` of the module that a checkpoint belongs to, or an architecture by name.
        inputs: Written inputs; they replace the registered ones.

    Raises:
        UnknownName: no model is registered under the name and it is no path.
        UsageError: MODEL is an artifact, or an architecture is given for a file that is a program.
        ModelError: there is no such file, or it is no model.
    """
    # Registered files may import torch and more: they are read only for a model that the settings lack.
    spec = _known(model, settings_models(settings))
    if spec is None:
        known = known_models(settings)
        spec = _known(model, known)
    if spec is None:
        return _unregistered(model, settings, arch, inputs, known)
    if spec.weights is not None:
        file_kind(spec.root / spec.weights)
    spec = spec.with_changes(factory=arch, signature=parse_signature(inputs) if inputs else None)
    return Draft(spec, fit=spec.weights is not None and is_architecture(spec.factory))


def _known(model: str, known: dict[str, ModelSpec]) -> ModelSpec | None:
    """The model of that name, or the one that names that file as its weights."""
    if model in known:
        return known[model]
    path = Path(model).resolve()
    matches = (spec for spec in known.values() if spec.weights and (spec.root / spec.weights).resolve() == path)
    return next(matches, None)


def _unregistered(
    model: str, settings: Settings, arch: str | None, inputs: tuple[str, ...], known: dict[str, ModelSpec]
) -> Draft:
    path = Path(model)
    if (path / CONFIG).is_file():  # a folder that transformers' save_pretrained wrote
        model = f"transformers:{path.resolve()}"
    elif path.exists() or path.suffix in SUFFIXES:
        return _file(path, settings, arch, inputs)
    if not is_reference(model) and not is_architecture(model):
        raise UnknownName(
            f"there is no model {model!r}",
            allowed="a registered name, a file, package.module:factory, torchvision:NAME, or transformers:DIR",
            hint=address_hint(model) or f"{did_you_mean(model, known)} · parity models",
        )
    if arch is not None:
        raise UsageError(
            "--arch is for a file of weights, and MODEL is a factory itself",
            where=model,
            got=f"--arch {arch}",
            hint=f"parity report FILE --arch {arch}, or MODEL without --arch",
        )
    name = model.rpartition(":")[2].partition("(")[0].rstrip("/").rpartition("/")[2]
    return Draft(_spec(name, model, settings, inputs))


def _file(path: Path, settings: Settings, arch: str | None, inputs: tuple[str, ...]) -> Draft:
    kind = file_kind(path)
    if kind == ONNX:
        raise UsageError(
            "an ONNX file is an artifact, not a model",
            where=str(path),
            allowed="the PyTorch model that it was exported from",
            hint=f"parity report MODEL --artifact {typed(path)}",
        )
    name = path.name.removesuffix(".tar").rpartition(".")[0] or path.name
    if kind in _SCHEMES:
        if arch is not None:
            raise UsageError(
                f"{kind} holds its own architecture", where=str(path), got=f"--arch {arch}",
                hint="leave --arch out, or judge the file against its model: "
                f"parity report {arch} --artifact {typed(path)}",
            )  # fmt: skip
        return Draft(_spec(name, f"{_SCHEMES[kind]}:{path.resolve()}", settings, inputs))
    spec = _spec(name, arch or "", settings, inputs, weights=str(path.resolve()))
    return Draft(spec, fit=arch is not None and is_architecture(arch))


def _spec(
    name: str, factory: str, settings: Settings, inputs: tuple[str, ...], weights: str | None = None
) -> ModelSpec:
    return ModelSpec(
        name=name,
        factory=factory,
        signature=written_signature(inputs),
        root=settings.root,
        weights=weights,
        limits=settings.limits.frozen(),
    )
