"""`python -m parity`: the `parity` command."""

from __future__ import annotations

from parity.cli import main

if __name__ == "__main__":
    main()
