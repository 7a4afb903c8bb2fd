"""The signature of an exported program, written: it promises dtypes, sizes and their bounds itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._sympy.value_ranges import bound_sympy

from parity.errors import ModelError

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

_SYMBOLS = "THWDLKRSUVXYZ"
"""What dimensions other than the batch are called, in the order in which they come."""


def program_inputs(path: Path) -> tuple[str, ...]:
    """The inputs of a `.pt2` file in the written form.

    A symbol that every input begins with is called N, for the batch. The range of an integer input is that of the
    embedding which it indexes, where there is one.

    Raises:
        ModelError: an input is no tensor, is nested in a container, or has a size that depends on another's.
    """
    program = torch.export.load(path)
    names = program.graph_signature.user_inputs
    spec = program.call_spec.in_spec
    if spec is None or not all(each.is_leaf() for group in spec.children() for each in group.children()):
        raise ModelError(
            "this program takes inputs within containers",
            where=str(path),
            allowed="tensors by position or by keyword",
            got=str(spec)[:200],
            hint="export a wrapper that takes them one by one",
        )
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    symbols: dict[str, str] = {}
    written: list[str] = []
    for name in names:
        node = placeholders.get(name) if isinstance(name, str) else None
        value = None if node is None else node.meta.get("val")
        if node is None or not isinstance(value, torch.Tensor):
            raise ModelError(f"this program takes {name!r}, which is no tensor", where=str(path),
                             hint="export it with that value fixed")  # fmt: skip
        written.append(f"{name}: {_dtype(value)}[{', '.join(_dims(value, symbols, program, path))}]{_range(node)}")
    return tuple(written)


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).rpartition(".")[2]


def _dims(value: torch.Tensor, symbols: dict[str, str], program: ExportedProgram, path: Path) -> list[str]:
    return [
        str(size) if isinstance(size, int) else _symbol(size.node.expr, axis, symbols, program, path)
        for axis, size in enumerate(value.shape)
    ]


def _symbol(expression: Any, axis: int, symbols: dict[str, str], program: ExportedProgram, path: Path) -> str:
    """`N`, `T in 1..128` or `H in 16.. step 8` for an expression that is a symbol or a multiple of one."""
    step, base = expression.as_coeff_Mul()
    if not base.is_Symbol or not step.is_Integer:
        raise ModelError(f"a size of this program is {expression}, which depends on others", where=str(path),
                         hint='write its inputs: --input "name: dtype[dims]"')  # fmt: skip
    key = str(expression)
    if key not in symbols:
        free = [name for name in ("N" if axis == 0 and not symbols else "", *_SYMBOLS) if name]
        symbols[key] = next(name for name in free if name not in symbols.values())
    low, high = size_bounds(expression, program)
    low = max(low or 1, 1)
    bounds = "" if low == 1 and high is None else f" in {low}..{'' if high is None else high}"
    return f"{symbols[key]}{bounds}{f' step {step}' if step != 1 else ''}"


def size_bounds(expression: Any, program: ExportedProgram) -> tuple[int | None, int | None]:
    """The lowest and highest value that a program promises for an expression of its sizes; None where it is open."""
    found = bound_sympy(expression, dict(program.range_constraints))
    low, high = (int(bound) if getattr(bound, "is_Integer", False) else None for bound in (found.lower, found.upper))
    return low, high


def _range(node: Node) -> str:
    """The rows of the embedding that an input indexes, as its range."""
    for user in node.users:
        if user.target is torch.ops.aten.embedding.default and len(user.args) > 1 and user.args[1] is node:
            table = user.args[0]
            rows = getattr(table, "meta", {}).get("val")
            if isinstance(rows, torch.Tensor):
                return f" in 0..{rows.shape[0] - 1}"
    return ""
