"""`parity diff OLD NEW`: what got better, what got worse, and what cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parity.cli_shell import console, guarded


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A report.json, or the folder that holds it.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The one to hold against it.")],
    *,
    everything: Annotated[bool, typer.Option("--all", help="List what has not changed as well.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Every cell as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="For a comment on a pull request.")] = False,
) -> None:
    """Compare two reports cell by cell: 1 where anything got worse, 3 where something cannot be told, 0 otherwise."""
    with guarded():
        from parity.diffing import DIFF_STATUS, find_changes  # noqa: PLC0415
        from parity.errors import UsageError  # noqa: PLC0415
        from parity.reports.diff_json import diff_json  # noqa: PLC0415
        from parity.reports.diff_markdown import render_diff  # noqa: PLC0415
        from parity.reports.diff_terminal import print_diff  # noqa: PLC0415
        from parity.reports.reading import read_report  # noqa: PLC0415

        if json and markdown:
            raise UsageError("there is one output", allowed="--json or --markdown", got="both")
        found = find_changes(read_report(old), read_report(new))
        if json:
            typer.echo(diff_json(found))
        elif markdown:
            typer.echo(render_diff(found, everything=everything), nl=False)
        else:
            print_diff(found, console(), everything=everything)
        raise typer.Exit(DIFF_STATUS[found.verdict])
