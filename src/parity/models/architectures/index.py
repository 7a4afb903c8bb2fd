"""The index of torchvision's architectures: keys and shapes, so that a state dict is recognised without building any.

    python -m parity.models.architectures.index     # writes the shipped index anew

A torchvision that has other architectures than the shipped index gets an index of those in the user's cache.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import platformdirs

from parity.models.architectures.templates import Template, Term

SHIPPED = Path(__file__).with_name("torchvision.json.gz")

_FORMAT = 1


def read_index(path: Path = SHIPPED) -> tuple[str, list[Template]]:
    """The version of torchvision that an index was made from, and its templates.

    Raises:
        ValueError: it is damaged or of another format.
        OSError: it cannot be read.
    """
    held = json.loads(gzip.decompress(path.read_bytes()))
    if held["format"] != _FORMAT:
        raise ValueError(f"{path} is an index of another format")
    return held["torchvision"], [_read(each) for each in held["templates"]]


def write_index(path: Path, version: str, templates: Iterable[Template]) -> None:
    """Write an index, whole or not at all; the same templates give the same bytes."""
    held = {"format": _FORMAT, "torchvision": version, "templates": [_written(each) for each in templates]}
    text = json.dumps(held, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "wb") as file:
        file.write(gzip.compress(text.encode(), mtime=0))
    Path(temporary).replace(path)


def _written(template: Template) -> dict[str, Any]:
    def dim(each: int | Term) -> Any:
        if isinstance(each, int):
            return each
        return [each.argument, each.power, each.scale.numerator, each.scale.denominator, each.offset]

    return {
        "name": template.name,
        "arguments": dict(template.arguments),
        "defaults": dict(template.defaults),
        "shapes": {key: [dim(each) for each in dims] for key, dims in template.shapes.items()},
    }


def _read(held: dict[str, Any]) -> Template:
    def dim(each: Any) -> int | Term:
        if isinstance(each, int):
            return each
        argument, power, numerator, denominator, offset = each
        return Term(argument, power, Fraction(numerator, denominator), offset)

    shapes = {key: tuple(map(dim, dims)) for key, dims in held["shapes"].items()}
    return Template(held["name"], tuple(held["arguments"].items()), held["defaults"], shapes)


def more_templates(known: Sequence[Template], version: str) -> list[Template]:
    """Templates of what the installed torchvision has and the shipped index lacks, made once and then cached.

    Args:
        known: The shipped templates.
        version: The torchvision that they were made from: the same one has nothing more.
    """
    try:
        installed = metadata.version("torchvision")
    except metadata.PackageNotFoundError:
        return []
    if installed.partition("+")[0] == version:
        return []
    cached = _cache() / f"torchvision-{installed}.json.gz"
    try:
        return read_index(cached)[1]
    except (OSError, ValueError, KeyError, EOFError):
        made = _make({template.name for template in known})
    # A home that cannot be written to costs the seconds again, nothing else.
    with contextlib.suppress(OSError):
        write_index(cached, installed, made)
    return made


def _cache() -> Path:
    """A folder whose name begins with a dot is no artifact to the cache of artifacts."""
    return Path(os.environ.get("PARITY_CACHE") or platformdirs.user_cache_dir("parity")) / ".architectures"


def _make(known: Iterable[str]) -> list[Template]:
    from torchvision.models import list_models  # noqa: PLC0415  # optional, a second to import

    from parity.models.architectures.making import make_template_variants, reason_left_out  # noqa: PLC0415  # torch

    found: list[Template] = []
    for name in sorted(set(list_models()) - set(known)):
        if reason_left_out(name) is None:
            try:
                found += make_template_variants(name)
            except Exception:  # noqa: BLE001, S112  # an architecture that needs more than a name cannot be recognised
                continue
    return found


def main() -> None:
    """Write the shipped index from the torchvision that is installed."""
    import torchvision  # noqa: PLC0415

    from parity.models.architectures.making import make_templates, reason_left_out  # noqa: PLC0415

    names = sorted(name for name in torchvision.models.list_models() if reason_left_out(name) is None)
    templates = make_templates(names)
    write_index(SHIPPED, torchvision.__version__.partition("+")[0], templates)
    size = SHIPPED.stat().st_size / 1024
    print(f"{len(templates)} templates of {len(names)} architectures, {size:.0f} KB in {SHIPPED}")  # noqa: T201  # a command


if __name__ == "__main__":
    main()
