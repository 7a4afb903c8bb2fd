"""`parity.toml`, or `[tool.parity]` in `pyproject.toml`, validated.

```toml
registry = ["suites/models.py"]     # files whose @parity.register models are known by name
golden = "golden"                   # where goldens are kept

[limits]                            # for every model; [models.NAME.limits] for one
ratio = 10.0

[models.digits]                     # a model without Python of ours
factory = "examples/digits/model.py:DigitsNet"
weights = "examples/digits/model.pt"
input = "image: float32[N, 1, 8, 8]"
samples = "examples/digits/heldout.npz"
```
"""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ByteSize, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from parity.errors import SettingsError, did_you_mean

if TYPE_CHECKING:
    from parity.models.spec import Limits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_Milliseconds = Annotated[float, Field(gt=0)]
_Batch = Annotated[int, Field(ge=1)]


class LimitSettings(_Strict):
    """Limits of the gates; what is left out keeps the default of the level above."""

    ratio: float | None = Field(default=None, gt=0)
    agreement: float | None = Field(default=None, gt=0, le=1)
    top5: float | None = Field(default=None, gt=0, le=1)
    sequence: float | None = Field(default=None, gt=0, le=1)
    miou: float | None = Field(default=None, gt=0, le=1)
    cosine: float | None = Field(default=None, gt=-1, le=1)
    neighbours: float | None = Field(default=None, gt=0, le=1)
    accuracy_drop: float | None = Field(default=None, ge=0, lt=1)
    sqnr_db: float | None = None
    latency: float | None = Field(default=None, ge=1)
    max_ms: _Milliseconds | dict[_Batch, _Milliseconds] | None = None
    min_throughput: float | None = Field(default=None, gt=0)
    max_bytes: ByteSize | None = Field(default=None, gt=0)
    max_memory: ByteSize | None = Field(default=None, gt=0)

    def over(self, more: LimitSettings | None) -> LimitSettings:
        """These limits with those of a narrower scope laid over them."""
        return self.model_copy(update=more.model_dump(exclude_none=True)) if more else self

    def frozen(self) -> Limits:
        """The record that the gates read, with the defaults filled in."""
        from parity.models.spec import EVERY_BATCH, Limits  # noqa: PLC0415  # settings stand below models

        given = self.model_dump(exclude_none=True)
        if (most := given.pop("max_ms", None)) is not None:
            by_batch = most if isinstance(most, dict) else {EVERY_BATCH: most}
            given["max_ms"] = tuple(by_batch.items())
        return Limits(**given)


class ModelSettings(_Strict):
    """`[models.NAME]`: a model, or only limits for one that is registered in Python."""

    factory: str | None = None
    weights: str | None = None
    input: str | list[str] = Field(default_factory=list)
    samples: str | None = None
    calibration: str | None = None
    labels: str | None = None
    preprocess: str | None = None
    allow_missing: list[str] = Field(default_factory=list)
    targets: list[str] | None = None
    decision: str | dict[str, str] | None = None
    limits: LimitSettings = LimitSettings()
    target_limits: dict[str, LimitSettings] = Field(default_factory=dict)


class TimeoutSettings(_Strict):
    """Seconds after which a child process is stopped and its cell recorded as a timeout."""

    load: float = Field(default=300, gt=0)
    export: float = Field(default=600, gt=0)
    run: float = Field(default=900, gt=0)


class LatencySettings(_Strict):
    """How long the timing stage may take: burst time of each target at each batch size, in seconds."""

    seconds: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    processes: int = Field(default=3, ge=1)
    max_seconds: float = Field(default=5.0, gt=0, allow_inf_nan=False)


class SuiteSettings(_Strict):
    """What `pytest suites/` does with each case."""

    batch: int = Field(default=8, ge=1)
    inconclusive: str = Field(default="skip", pattern="^(skip|fail)$")


ANY = "*"
"""Stands for every model or every target in a waiver, never for both."""


class WaiverSettings(_Strict):
    """One `[[waivers]]` table: a failure that is known, why it may ship all the same, and until when."""

    model: str = Field(min_length=1)
    target: str = Field(min_length=1)
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    expires: dt.date = Field(strict=True)
    check: Literal["numeric", "decisions", "shapes", "latency", "budgets"] | None = None
    output: str | None = None

    @model_validator(mode="after")
    def _narrow_enough(self) -> WaiverSettings:
        if self.model == ANY and self.target == ANY:
            raise ValueError("a waiver for every model at every target would loosen the whole gate")
        if self.output is not None and self.check in ("latency", "budgets"):
            raise ValueError("speed and size are not measured for single outputs")
        return self


class Settings(_Strict):
    """Everything a project can set. `root` is the folder of the file it was read from."""

    root: Path
    registry: list[str] = Field(default_factory=list)
    golden: str = "golden"
    cache: str | None = None
    limits: LimitSettings = LimitSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    latency: LatencySettings = LatencySettings()
    suites: SuiteSettings = SuiteSettings()
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    waivers: list[WaiverSettings] = Field(default_factory=list)


def find_settings(start: Path | None = None) -> Settings:
    """The settings of the nearest folder upwards that has any, or the defaults with `start` as root.

    Raises:
        SettingsError: the file is not TOML, or holds a key or a value that is not known.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        own = folder / "parity.toml"
        if own.is_file():
            return _validated(_read(own), own)
        project = folder / "pyproject.toml"
        if project.is_file() and "parity" in (table := _read(project).get("tool", {})):
            return _validated(table["parity"], project)
    return Settings(root=start)


def _read(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}", where=str(path)) from error
    return table


def _validated(table: dict[str, Any], path: Path) -> Settings:
    try:
        return Settings(root=path.parent, **table)
    except ValidationError as error:
        # Of a setting that may be several kinds of things, what is wrong with the kind that it is tells more.
        found = error.errors()
        first = next((each for each in found if not each["type"].endswith("_type")), found[0])
        place = ".".join(str(part) for part in first["loc"] if "constrained-" not in str(part))
        unknown = first["type"] == "extra_forbidden"
        raise SettingsError(
            f"there is no setting {place!r}" if unknown else f"the setting {place!r} is wrong: {first['msg']}",
            where=str(path),
            got=repr(first["input"]),
            hint=did_you_mean(str(first["loc"][-1]), _known_keys(first["loc"])) if unknown else None,
        ) from error
    except TypeError as error:
        raise SettingsError("`root` is not a setting: it is the file's own folder", where=str(path)) from error


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    kinds: dict[str, type[BaseModel]] = {
        "limits": LimitSettings, "target_limits": LimitSettings, "timeouts": TimeoutSettings,
        "latency": LatencySettings, "suites": SuiteSettings, "models": ModelSettings,
        "waivers": WaiverSettings,
    }  # fmt: skip
    within = [kinds[str(part)] for part in place[:-1] if str(part) in kinds]
    return [key for key in (within[-1] if within else Settings).model_fields if key != "root"]
