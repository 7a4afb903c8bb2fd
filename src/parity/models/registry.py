"""The registry of models: what `@parity.register` and `parity.toml` name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from parity.errors import UsageError
from parity.models.decision import Written, parse_decision
from parity.models.refs import load_file, reference_to
from parity.models.signature import parse_signature
from parity.models.spec import ModelSpec
from parity.registry import Registry
from parity.settings import ModelSettings, Settings

Source = str | Callable[[], Any]
"""Where samples or labels come from: a file, a reference, or a module-level function."""

F = TypeVar("F", bound=Callable[..., Any])

REGISTERED: Registry[ModelSpec] = Registry("model", group="parity.models")
"""What `@parity.register` has added in this process."""

_NAME = re.compile(r"^[A-Za-z0-9][\w.-]*$")


def register(
    name: str,
    *,
    input: str | Sequence[str],  # noqa: A002  # the public name of the contract
    samples: Source,
    calibration: Source | None = None,
    labels: Source | None = None,
    preprocess: Source | None = None,
    targets: Sequence[str] | None = None,
    weights: str | None = None,
    decision: Written | None = None,
) -> Callable[[F], F]:
    """Register the decorated factory, a module-level callable that returns an `nn.Module`, as a model.

    Args:
        name: What the model is called on the command line, in suites and in `golden/`.
        input: The signature, one written input or several, such as `image: float32[N, 3, 224, 224]`.
        samples: Held-out inputs: a file, or a function that returns either a dictionary of stacked
            arrays `{name: [n, ...]}` or an iterable of samples `{name: [...]}` without the batch axis.
        calibration: The same for static quantization; no sample may be held out as well.
        labels: Labels of the held-out samples, one for each decision: `int64[n]`, or `int64[n, ...]`.
        preprocess: What makes an image of a folder into inputs: `torchvision:WEIGHTS`, or a function.
        targets: The targets that are shipped; all of them where it is left out.
        weights: Checkpoint to load into what the factory returns.
        decision: What users act on: `classes`, `segmentation`, `detection`, `embedding`, `tokens` or `none`, for
            every output that it fits, or by output name; inferred from names and shapes where it is left out.

    Raises:
        UsageError: the name, the signature, the decision or a function cannot be used; raised where it is written,
            not when it is first run.
    """
    if not _NAME.match(name):
        raise UsageError("a model's name is also a folder's", allowed="letters, digits, '.', '_', '-'", got=name)
    signature = parse_signature(input)
    kinds = parse_decision(decision, f"decision of {name}")

    def add(factory: F) -> F:
        reference = reference_to(factory)
        REGISTERED.add(
            ModelSpec(
                name=name,
                factory=reference,
                signature=signature,
                root=Path.cwd(),
                weights=weights,
                samples=_source(samples),
                calibration=_source(calibration),
                labels=_source(labels),
                preprocess=_source(preprocess),
                targets=tuple(targets) if targets is not None else None,
                decision=kinds,
            )
        )
        return factory

    return add


def _source(source: Source | None) -> str | None:
    return source if source is None or isinstance(source, str) else reference_to(source)


def known_models(settings: Settings) -> dict[str, ModelSpec]:
    """Every model by name: those of `parity.toml`, of the files it lists, and of entry points.

    Raises:
        ModelError: a listed file cannot be imported.
    """
    for file in settings.registry:
        load_file((settings.root / file).resolve(), settings.root)
    found = {name: REGISTERED.get(name) for name in REGISTERED.names()}
    return {name: _with_settings(spec, settings) for name, spec in found.items()} | settings_models(settings)


def known_names(settings: Settings, model: str) -> set[str] | None:
    """Every model's name once `model` was found; None where a listed file was not read and may hold more."""
    unread = settings.registry and model in settings_models(settings)
    return None if unread else {*settings.models, *REGISTERED.names()}


def settings_models(settings: Settings) -> dict[str, ModelSpec]:
    """The models that `parity.toml` describes without Python of theirs; imports nothing."""
    return {
        name: _with_settings(_from_settings(name, model, settings), settings)
        for name, model in settings.models.items()
        if model.factory
    }


def _from_settings(name: str, model: ModelSettings, settings: Settings) -> ModelSpec:
    return ModelSpec(
        name=name,
        factory=model.factory or "",
        signature=parse_signature(model.input),
        root=settings.root,
        weights=model.weights,
        samples=model.samples,
        calibration=model.calibration,
        labels=model.labels,
        preprocess=model.preprocess,
        allow_missing=tuple(model.allow_missing),
        targets=tuple(model.targets) if model.targets is not None else None,
    )


def _with_settings(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """The spec with what `[models.NAME]` says of it; the table adds to a model that Python registers."""
    own = settings.models.get(spec.name)
    given = own.model_dump(include={"weights", "samples", "calibration", "labels", "preprocess"}) if own else {}
    limits = settings.limits.over(own.limits if own else None)
    per_target = tuple((target, limits.over(each)) for target, each in (own.target_limits if own else {}).items())
    return spec.with_changes(
        **given,
        root=settings.root,
        targets=tuple(own.targets) if own and own.targets is not None else None,
        decision=parse_decision(own.decision, f"models.{spec.name}.decision") if own and own.decision else None,
        signature=parse_signature(own.input) if own and own.input else None,
        limits=limits.frozen(),
        target_limits=tuple((target, each.frozen()) for target, each in per_target),
    )
