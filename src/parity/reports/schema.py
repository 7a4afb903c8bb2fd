"""`report.json`: how a `Report` is written, read back, and described by a JSON Schema.

The dataclasses in `parity.records` are the only definition of the fields; pydantic reads them.

JSON has no NaN and no infinity, so a float that is not finite is written as one of the strings `"NaN"`,
`"Infinity"` and `"-Infinity"`, and a float field reads them back. In the free-form `environment` and
`settings` such a value stays a string, tuples come back as lists, and entries that are None are dropped.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from pydantic_core import to_json as dump_json

from parity.errors import ParityError
from parity.records import SCHEMA, Report

SCHEMA_FILE = Path(__file__).with_name("report.schema.json")
"""The JSON Schema that ships in the package."""

REGENERATE = "python -m parity.reports.schema"
"""The command that writes `SCHEMA_FILE` again after a change of the records."""

_SHOWN_PROBLEMS = 5


def to_json(report: Report) -> str:
    """`report` as strict JSON, indented by two spaces; fields that do not apply are absent."""
    plain = _adapter().dump_python(report, exclude_none=True, warnings=False)
    return dump_json(_without_none(plain), indent=2, inf_nan_mode="strings", fallback=_scalar).decode()


def from_json(text: str) -> Report:
    """The report that `to_json` wrote. Fields that this version does not know are ignored.

    Raises:
        ParityError: the text is not JSON, is of another schema, or lacks what a report must have.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ParityError(
            "this is not a report: it is not JSON",
            allowed=f"the report.json of `parity report`, schema {SCHEMA}",
            got=str(error),
            hint="run `parity report MODEL` again",
        ) from error
    found = data.get("schema") if isinstance(data, dict) else None
    if found != SCHEMA:
        raise ParityError(
            "this report cannot be read",
            where="schema",
            allowed=SCHEMA,
            got="none" if found is None else str(found),
            hint="run `parity report MODEL` again, or read it with the version of parity that wrote it",
        )
    try:
        return _adapter().validate_python(_with_absent(Report, data))
    except ValidationError as error:
        raise ParityError(
            "this report is damaged",
            where=", ".join(_places(error)),
            allowed=f"fields as {SCHEMA} describes them",
            got="; ".join(problem["msg"] for problem in error.errors()[:_SHOWN_PROBLEMS]),
            hint="run `parity report MODEL` again",
        ) from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of `report.json`, made from the records."""
    schema = _adapter().json_schema(schema_generator=_WrittenSchema)
    schema["properties"]["schema"] = {"const": SCHEMA, "title": "Schema", "type": "string"}
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


def schema_text() -> str:
    """What `SCHEMA_FILE` must hold."""
    return json.dumps(json_schema(), indent=2, sort_keys=True) + "\n"


@cache
def _adapter() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


class _WrittenSchema(GenerateJsonSchema):
    """Describes what `to_json` writes: no nulls, and strings for floats that are not finite."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if "default" in schema and schema["default"] is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return {"anyOf": [super().float_schema(schema), {"enum": ["NaN", "Infinity", "-Infinity"]}]}

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: FBT001 - the signature is pydantic's
    ) -> bool:
        return super().field_is_required(field, total) and field["schema"]["type"] != "nullable"


def _without_none(value: Any) -> Any:
    """The same tree without the dictionary entries that are None."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value


def _scalar(value: Any) -> Any:
    """What to write for an object that JSON does not know: NumPy scalars as numbers, others as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _with_absent(kind: type[Any], data: Any) -> Any:
    """`data` with None for each field of the dataclass `kind` that may be None and has no default.

    Such a field is absent from the JSON when it is None, and pydantic would call it missing.
    """
    if not isinstance(data, dict):
        return data
    filled = dict(data)
    hints = typing.get_type_hints(kind)
    for each in dataclasses.fields(kind):
        arguments = typing.get_args(hints[each.name])
        if each.name not in filled:
            if type(None) in arguments and each.default is dataclasses.MISSING:
                filled[each.name] = None
            continue
        for inner in (hints[each.name], *arguments):
            if isinstance(inner, type) and dataclasses.is_dataclass(inner):
                filled[each.name] = _with_absent_inside(inner, filled[each.name])
    return filled


def _with_absent_inside(kind: type[Any], value: Any) -> Any:
    if isinstance(value, list):
        return [_with_absent(kind, item) for item in value]
    return _with_absent(kind, value)


def _places(error: ValidationError) -> list[str]:
    """Where the problems are, as `records.0.verdict`; the first few."""
    problems = error.errors()
    places = [".".join(str(part) for part in problem["loc"]) for problem in problems[:_SHOWN_PROBLEMS]]
    more = len(problems) - len(places)
    return [*places, f"and {more} more"] if more else places


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    sys.stdout.write(f"wrote {SCHEMA_FILE}\n")
