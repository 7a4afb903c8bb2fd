"""Why ONNX Runtime refuses a file: found by asking it what it reads, and holding that against the file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parity.models.wording import listed
from parity.runtimes.onnx_files import external_data, nodes

_TOO_NEW = 1_000_000
"""A version that no release has, so that the answer names the newest one that it knows."""

_IR_LIMIT = re.compile(r"max supported IR version: (\d+)")
_OPSET_LIMIT = re.compile(r"is till opset (\d+)")
_MOST = 3
"""Operators that are named; the others are counted."""


def why_refused(path: Path) -> str | None:
    """What is wrong with an ONNX file that did not open, and what to do; None where the runtime's own words are better.

    Looked for are a damaged file, an IR version or opset of any domain that the installed ONNX Runtime does not
    know, operators that nothing implements, and external data that is missing or too short.
    """
    try:
        import onnx  # noqa: PLC0415  # optional
    except ImportError:
        return None
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # noqa: BLE001  # protobuf's exceptions are no family
        return f"the ONNX file cannot be read: {type(error).__name__}: copy or export it again"
    return _too_new(model) or _unknown_operators(model) or external_data(model, path.parent).problem


@dataclass(frozen=True)
class _Newer:
    what: str
    has: int
    known: int


def _too_new(model: Any) -> str | None:
    limits = newest_known({entry.domain for entry in model.opset_import})
    newer = [_Newer("IR version", model.ir_version, limits.ir)] if limits.ir and model.ir_version > limits.ir else []
    for entry in model.opset_import:
        known = limits.opsets.get(entry.domain)
        if known is not None and entry.version > known:
            newer.append(_Newer(f"opset of {entry.domain or 'ai.onnx'}", entry.version, known))
    if not newer:
        return None
    said = ", ".join(f"{each.what} {each.has} (known up to {each.known})" for each in newer)
    opset = limits.opsets.get("")
    of_opset = opset and any(each.what.startswith("opset") for each in newer)
    lower = f"opset_version={opset}" if of_opset else "an older onnx"
    return (
        f"the file is newer than ONNX Runtime {limits.version}: {said}: export it with {lower}, or upgrade onnxruntime"
    )


@dataclass(frozen=True)
class Newest:
    """The newest versions that the installed ONNX Runtime reads; `ir` is 0, and a domain absent, where it says none."""

    version: str
    ir: int
    opsets: dict[str, int]


def newest_known(domains: Iterable[str]) -> Newest:
    """Ask ONNX Runtime for its limits with tiny models that are too new: it has no call that tells them."""
    import onnxruntime  # noqa: PLC0415  # optional

    opsets = {
        domain: limit
        for domain in {"", *domains}
        if (limit := _limit(_OPSET_LIMIT, _tiny(8, domain, _TOO_NEW))) is not None
    }
    return Newest(onnxruntime.__version__, _limit(_IR_LIMIT, _tiny(_TOO_NEW, "", 1)) or 0, opsets)


def _limit(pattern: re.Pattern[str], model: bytes) -> int | None:
    import onnxruntime  # noqa: PLC0415  # optional

    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001  # that it refuses is the answer
        found = pattern.search(str(error))
        return int(found[1]) if found else None
    return None


def _tiny(ir: int, domain: str, opset: int) -> bytes:
    from onnx import TensorProto, helper  # noqa: PLC0415  # optional

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", value[:1], value[1:])
    plain = [] if domain == "" else [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=[*plain, helper.make_opsetid(domain, opset)])
    model.ir_version = ir
    return bytes(model.SerializeToString())


def _unknown_operators(model: Any) -> str | None:
    """Operators of other domains that neither the runtime nor a function of the model implements."""
    known = _implemented()
    own = {(function.domain, function.name) for function in model.functions}
    unknown = dict.fromkeys(
        f"{node.domain}::{node.op_type}"
        for node in nodes(model)
        if node.domain not in ("", "ai.onnx") and (node.domain, node.op_type) not in own | known
    )
    if not known or not unknown:
        return None
    return (
        f"ONNX Runtime has no implementation of {listed(unknown, _MOST)}: export without custom "
        "operators, or serve it with the library that registers them"
    )


def _implemented() -> set[tuple[str, str]]:
    """Domain and name of every operator that this ONNX Runtime knows; empty where it does not list them."""
    try:
        from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema  # noqa: PLC0415  # optional
    except ImportError:
        return set()
    return {(schema.domain, schema.name) for schema in get_all_operator_schema()}
