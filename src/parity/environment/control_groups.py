"""The control groups that may bound what processors this process gets, as a container's limit does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def control_groups(root: Path = Path("/")) -> Iterator[tuple[Path, int]]:
    """This process's groups and those around them, as far as it can see them, the innermost first.

    Args:
        root: The file system, for a test.

    Yields:
        A folder, which need not exist, and the version of its files: 2, or 1 for the older kind.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):
        lines = []
    for line in lines or ["0::/"]:
        _, names, path = [*line.split(":", 2), "", ""][:3]
        inside = PurePosixPath(path.lstrip("/"))
        if names == "":
            yield from ((root / "sys/fs/cgroup" / group, 2) for group in (inside, *inside.parents))
        elif "cpu" in names.split(","):
            yield from ((root / "sys/fs/cgroup/cpu" / group, 1) for group in (inside, *inside.parents))
