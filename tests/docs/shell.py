"""The shell commands that pages and workflows show, and whether this repository can run them."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import typer.main

from parity import pytest_plugin
from parity.cli import app

ROOT = Path(__file__).resolve().parents[2]
OURS = ("parity", "make", "pytest", "python -m pytest")
PYTEST_OPTIONS = {"--junitxml", "--dist", "--benchmark-autosave", "--benchmark-compare"}
"""Options of pytest and its plugins that are not ours."""

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def shown_commands(markdown: str) -> Iterator[str]:
    """Commands of ours in untagged code blocks and in code spans."""
    blocks = [text for language, text in _FENCED.findall(markdown) if not language]
    prose = _FENCED.sub("", markdown)
    for text in (*blocks, *_INLINE.findall(prose)):
        yield from script_commands(text)


def script_commands(script: str) -> Iterator[str]:
    """Commands of ours in a shell script: one a line, without comments, redirections and what is chained."""
    for line in script.replace("\\\n", " ").splitlines():
        command = re.split(r"\s+(?:#|\|\||&&|>|\|)\s*", line.strip())[0].strip()
        if command.startswith(tuple(f"{name} " for name in OURS)) and ":" not in command.split()[1]:
            yield re.sub(r"\$\{(\w+):\+(.*?)\}", r"\2", command)


def problem(command: str) -> str | None:
    """Why a command cannot be run here, or None."""
    words = shlex.split(command.removeprefix("python -m "))
    if words[0] == "make":
        return next((f"no make target {word}" for word in words[1:] if word not in make_targets()), None)
    if words[0] == "pytest":
        known = PYTEST_OPTIONS | plugin_options()
        return next((f"no option {word}" for word in words[1:] if word.startswith("--") and word not in known), None)
    return _parity_problem(words[1:])


def make_targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def plugin_options() -> set[str]:
    return set(re.findall(r'"(--parity-[\w-]+)"', inspect.getsource(pytest_plugin)))


def _parity_problem(words: list[str]) -> str | None:
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands"):
        if words[0].startswith("-"):
            break
        if words[0] not in command.commands:
            return f"no subcommand {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    if hasattr(command, "commands") and not words:
        return None
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    unknown = next((word for word in words if word.startswith("--") and word.partition("=")[0] not in known), None)
    return f"no option {unknown}" if unknown else None
