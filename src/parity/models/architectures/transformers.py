"""Models of Hugging Face transformers that lie in a local folder, as `save_pretrained` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parity.errors import ModelError, did_you_mean
from parity.models.architectures.references import cannot_build, require
from parity.models.architectures.schemes import Made, seeded

if TYPE_CHECKING:
    from torch import nn

CONFIG = "config.json"

_SAFE = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_ADAPTER = "adapter_config.json"
_SHOWN = 3


class Transformers:
    """`transformers:DIR`: the class that the folder's config names, with the folder's weights."""

    name = "transformers"
    carries_weights = True

    def build(self, text: str, root: Path) -> Made:
        """`from_pretrained` of local files alone; code that the folder brings is never run.

        The attention is the one that transformers takes by itself (`sdpa` where a model has it): what the team has
        evaluated. It exports, runs in float64, and agrees with `eager` attention.

        Raises:
            ModelError: the folder has not what is needed, or its weights do not fill the class.
        """
        folder = _folder(text, root, self.name)
        where = f"{self.name}:{text}"
        transformers = require("transformers", where)
        held = _config(folder)
        made = _model_class(transformers, held, folder)
        safe = any((folder / each).is_file() for each in _SAFE)
        if not safe and not any((folder / each).is_file() for each in _PICKLED):
            raise ModelError(
                "the folder holds no weights", where=str(folder), allowed=" or ".join((_SAFE[0], _PICKLED[0])),
                hint="model.save_pretrained(DIR) writes them beside the config",
            )  # fmt: skip
        loaded: list[Any] = []

        def load() -> nn.Module:
            module, info = made.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=safe,
                # What does not fit is refused below, with names instead of a printed table.
                ignore_mismatched_sizes=True,
                output_loading_info=True,
                **{_dtype_argument(transformers): "auto"},
            )
            loaded.append(info)
            # What a text model keeps for its next token is no output to compare, and no exporter knows its type.
            # Decoders have a config of their own.
            for config in (each.config for each in module.modules() if hasattr(each, "config")):
                config.use_cache = False
                config.return_dict = True
            return module  # type: ignore[no-any-return]  # from_pretrained is not typed

        try:
            with _quiet(transformers):
                module = seeded(load)
        except Exception as error:
            raise cannot_build(where, error) from error
        return Made(module, _notes(module, loaded[0], folder))

    def import_code(self, text: str, root: Path) -> None:
        """The model's module registers what it returns; importing the package alone loads no model's module."""
        folder = _folder(text, root, self.name)
        _model_class(require("transformers", f"{self.name}:{text}"), _config(folder), folder)

    def known_inputs(self, text: str, root: Path) -> tuple[str, ...] | None:
        """From the config and the `forward` of its class; the class is built without data to see its positions."""
        from parity.models.architectures.transformers_inputs import inputs_of  # noqa: PLC0415  # torch

        folder = _folder(text, root, self.name)
        transformers = require("transformers", f"{self.name}:{text}")
        held = _config(folder)
        made = _model_class(transformers, held, folder)
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            return inputs_of(made, config, folder)
        except Exception as error:
            raise cannot_build(f"{self.name}:{text}", error) from error

    def fitted(self, text: str, shapes: Mapping[str, tuple[int, ...]]) -> str:  # noqa: ARG002  # the config says it all
        """The same: a config holds every number."""
        return text


def _folder(text: str, root: Path, scheme: str) -> Path:
    folder = (root / Path(text).expanduser()).resolve()
    if (folder / CONFIG).is_file():
        return folder
    if (folder / _ADAPTER).is_file():
        raise ModelError(
            "this folder holds an adapter, and not the model that it belongs to", where=str(folder),
            hint="merge them first: PeftModel.merge_and_unload(), then save_pretrained",
        )  # fmt: skip
    got = "no such folder" if not folder.is_dir() else f"a folder without {CONFIG}"
    raise ModelError(
        f"there is no model of transformers in {text}",
        where=f"{scheme}:{text}",
        allowed=f"a local folder with {CONFIG} and weights; nothing is downloaded",
        got=f"{folder}: {got}",
        hint="model.save_pretrained(DIR), or hf download NAME --local-dir DIR",
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        held = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{CONFIG} is damaged: {error}", where=str(folder)) from error
    if not isinstance(held, dict):
        raise ModelError(f"{CONFIG} holds no settings", where=str(folder), got=type(held).__name__)
    return held


def _model_class(transformers: Any, held: dict[str, Any], folder: Path) -> Any:
    """The class that the config names, where transformers has it; the plain network of its type otherwise."""
    named = [str(each) for each in held.get("architectures") or ()]
    found = getattr(transformers, named[0], None) if named else transformers.AutoModel
    if found is not None:
        return found
    if held.get("auto_map"):
        raise ModelError(
            f"{named[0]} is code that lies in the folder itself, and is not run", where=str(folder),
            hint="load it in a factory of your own, where you trust it: --arch package.module:factory",
        )  # fmt: skip
    models = [each for each in dir(transformers) if each.startswith(named[0][:4])]
    raise ModelError(
        f"transformers {transformers.__version__} has no class {named[0]!r}", where=str(folder / CONFIG),
        hint=did_you_mean(named[0], models) if models else "install the version that wrote the folder",
    )  # fmt: skip


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """No progress bars and no tables: what a reader should know is in the notes, or in an error."""
    logging = transformers.utils.logging
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def _dtype_argument(transformers: Any) -> str:
    """What the dtype of the weights is called: `torch_dtype` until transformers 4.56."""
    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


def _notes(module: nn.Module, info: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """What was loaded, and what was left over.

    Raises:
        ModelError: the class has weights that the folder lacks or has in another shape: they would be random.
    """
    missing = sorted(map(str, info.get("missing_keys") or ()))
    wrong = sorted(str(each[0] if isinstance(each, tuple) else each) for each in info.get("mismatched_keys") or ())
    if missing or wrong:
        raise ModelError(
            f"the folder's weights do not fill {type(module).__name__}",
            where=str(folder),
            got="; ".join(
                f"{len(keys)} {what}: {_listed(keys)}"
                for what, keys in (("missing", missing), ("of another shape", wrong))
                if keys
            ),
            hint=f"save it again with save_pretrained, or name its real class under architectures in {CONFIG}",
        )
    left = sorted(map(str, info.get("unexpected_keys") or ()))
    attention = getattr(module.config, "_attn_implementation", None)
    return (
        f"{type(module).__name__} with the weights of the folder"
        + (f", {attention} attention" if isinstance(attention, str) else ""),
        *([f"{len(left)} weights are in the folder and not in the class: {_listed(left)}"] if left else []),
    )


def _listed(keys: list[str]) -> str:
    return ", ".join(keys[:_SHOWN]) + (", …" if len(keys) > _SHOWN else "")
