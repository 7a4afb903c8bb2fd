"""Where in the user's code something happened: file, line, and the module whose forward it was in."""

from __future__ import annotations

import ast
import inspect
import linecache
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn

import parity

_TORCH = f"{Path(torch.__file__).parent}/"
_OURS = f"{Path(parity.__file__).parent}/"
_STANDARD = f"{sysconfig.get_path('stdlib')}/"
_PACKAGES = ("/site-packages/", "/dist-packages/")

MOST_CHARACTERS = 100
"""Of a line of source that is shown."""


@dataclass(frozen=True)
class Place:
    """A line of somebody's code.

    Attributes:
        file: The whole path.
        line: Counted from 1.
        function: The line on which the function begins that it is in.
        where: File and line as they are shown.
        text: The line itself.
        module: Path within the model of the module that ran; empty for the model itself.
    """

    file: str
    line: int
    function: int
    where: str
    text: str
    module: str

    def reads(self, attribute: str) -> bool:
        """Whether `self.<attribute>` is read in this function before this line has set it, as state is.

        Where the source cannot be read it may be.
        """
        inside = [node for node in _tree(self.file) if isinstance(node, _FUNCTIONS) and _begins(node) == self.function]
        loads = [
            node.lineno
            for function in inside
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
        ]
        last = max((each.end_lineno or each.lineno for each in [_statement(self)] if each), default=self.line)
        augmented = isinstance(_statement(self), ast.AugAssign)
        return augmented or not inside or any(line <= last for line in loads)


class Places:
    """Finds places for the modules of one model, with paths relative to the project's folder."""

    def __init__(self, root: Path, module: nn.Module) -> None:
        self._root = root
        self._names = {id(each): name for name, each in module.named_modules()}

    def at(self, frame: FrameType | None) -> Place:
        """The innermost line outside torch, the standard library and this package, from a frame outwards.

        Where there is none it is torch's own line.
        """
        frames = list(_outwards(frame))
        module = next((name for each in frames if (name := self._module_of(each)) is not None), "")
        chosen = next((each for each in frames if _is_theirs(each.f_code.co_filename)), None)
        chosen = chosen or next(each for each in frames if not each.f_code.co_filename.startswith(_OURS))
        return self._place(chosen.f_code, chosen.f_lineno, module)

    def of(self, code: CodeType, module: str = "") -> Place:
        """Where a function begins."""
        return self._place(code, code.co_firstlineno, module)

    def forward_of(self, owner: nn.Module, module: str) -> Place | None:
        """Where a module's `forward` begins; None where it is torch's own."""
        code = code_of(inspect.getattr_static(type(owner), "forward"))
        return self._place(code, code.co_firstlineno, module) if code and _is_theirs(code.co_filename) else None

    def find(self, owner: nn.Module, fragment: str, module: str) -> Place | None:
        """The first line from a module's `forward` on that holds a fragment of code, else where `forward` begins.

        None for torch's own layers.
        """
        for kind in type(owner).__mro__:
            code = getattr(vars(kind).get("forward"), "__code__", None)
            if code is None or not _is_theirs(code.co_filename):
                continue
            lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
            for number, text in enumerate(lines, code.co_firstlineno):
                if fragment in text:
                    return self._place(code, number, module)
        return self.forward_of(owner, module)

    def name(self, module: nn.Module) -> str | None:
        """The path of a module within the model; None where it is not part of it."""
        return self._names.get(id(module))

    def _module_of(self, frame: FrameType) -> str | None:
        owner = frame.f_locals.get("self")
        return self._names.get(id(owner)) if isinstance(owner, nn.Module) else None

    def _place(self, code: CodeType, line: int, module: str) -> Place:
        file = code.co_filename
        text = linecache.getline(file, line).strip()
        if len(text) > MOST_CHARACTERS:
            text = f"{text[:MOST_CHARACTERS]}…"
        return Place(file, line, code.co_firstlineno, f"{self._shown(file)}:{line}", text, module)

    def _shown(self, file: str) -> str:
        for packages in _PACKAGES:
            if packages in file:
                return file.rpartition(packages)[2]
        path = Path(file)
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else file


def inside_torch(frame: FrameType) -> bool:
    """Whether a frame runs torch's own code."""
    return frame.f_code.co_filename.startswith(_TORCH)


def caller(frame: FrameType) -> FrameType:
    """Who called a function of torch that handed itself over to a mode, from the mode's caller."""
    if frame.f_code.co_filename.endswith("torch/overrides.py") and frame.f_back is not None:
        frame = frame.f_back.f_back or frame.f_back
    if frame.f_code.co_name == "__iter__" and inside_torch(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def is_check(place: Place) -> bool:
    """Whether a place only checks something: an assertion, or a branch that does nothing but raise."""
    found = _statement(place)
    if isinstance(found, ast.If):
        return all(isinstance(each, ast.Raise) for each in found.body)
    return isinstance(found, (ast.Assert, ast.Raise))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _tree(file: str) -> Iterator[ast.AST]:
    """Every node of a file; none where its source cannot be read."""
    try:
        return ast.walk(ast.parse("".join(linecache.getlines(file))))
    except (SyntaxError, ValueError):
        return iter(())


def _begins(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    """The line that its code object begins on: that of its first decorator."""
    decorators = getattr(function, "decorator_list", ())
    return min((each.lineno for each in decorators), default=function.lineno)


def _statement(place: Place) -> ast.stmt | None:
    """The innermost statement that covers a line; None where the source cannot be read."""
    covering = [
        node
        for node in _tree(place.file)
        if isinstance(node, ast.stmt) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    return max(covering, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_theirs(file: str) -> bool:
    if file.startswith(("<", _TORCH, _OURS)):
        return False
    return not file.startswith(_STANDARD) or any(packages in file for packages in _PACKAGES)


def code_of(function: Any) -> CodeType | None:
    """The code that a callable runs: a function, a bound method, a partial, or an object with `__call__`."""
    function = getattr(function, "func", function)
    for each in (function, getattr(function, "__func__", None), vars(type(function)).get("__call__")):
        code = getattr(each, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None
