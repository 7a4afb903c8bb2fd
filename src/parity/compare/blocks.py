"""Large arrays gone over in blocks that fit into the cache, by a few threads, with a result that is always the same.

A pass over a whole array allocates another one and reads it from memory again; over a block it reads the cache.
NumPy lets go of the interpreter's lock inside each operation, so that threads share the blocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from parity.arrays import Array
from parity.environment import cores

BLOCK = 1 << 18
"""Elements of a block: 2 MB in float64. A quarter of it costs a fifth more in calls, twice as much leaves the cache."""

MOST_THREADS = 4
"""More threads than that wait for memory, and for each other between two operations."""

_WORTH_THREADS = 1 << 20
"""Below as many elements a call takes about a millisecond, and starting threads as long."""


@dataclass(frozen=True)
class Block:
    """Elements `start:stop` of the arrays in C order: whole rows, or a part of a single one.

    `lines` is the place of its results: one line for each row in it, or one for the part.
    """

    start: int
    stop: int
    columns: int
    lines: slice

    def of(self, array: Array) -> Array:
        """Its part of an array, `[rows, columns]`: a view where the array is contiguous, else a copy of the part."""
        flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
        part: Array = flat[self.start : self.stop].reshape(-1, self.columns)
        return part


@dataclass(frozen=True)
class Plan:
    """How an array of `rows` times `columns` is cut: every row is `per_row` lines of results."""

    rows: int
    columns: int

    @property
    def per_row(self) -> int:
        """In how many parts a row is cut."""
        return max(-(-self.columns // BLOCK), 1)

    @property
    def lines(self) -> int:
        """Lines of results in all; the shape `[rows, per_row]` puts those of a row side by side."""
        return self.rows * self.per_row

    def __iter__(self) -> Iterator[Block]:
        """The blocks, which depend on the shape alone."""
        if not self.columns:
            return
        if self.per_row > 1:
            for line in range(self.lines):
                row, part = divmod(line, self.per_row)
                start = row * self.columns + part * BLOCK
                stop = min(start + BLOCK, (row + 1) * self.columns)
                yield Block(start, stop, stop - start, slice(line, line + 1))
            return
        step = max(BLOCK // self.columns, 1)
        for row in range(0, self.rows, step):
            last = min(row + step, self.rows)
            yield Block(row * self.columns, last * self.columns, self.columns, slice(row, last))


def over_blocks(plan: Plan, start: Callable[[], Callable[[Block], None]]) -> None:
    """Do something with every block, from several threads where the array is large.

    Args:
        plan: The blocks.
        start: Called once in each thread; returns what is called with a block and may own buffers. It writes
            its results to the block's lines, so that no order of the blocks can change them.
    """
    waiting = deque(plan)

    def work() -> None:
        with np.errstate(all="ignore"):  # what is not finite is looked for, and found in the results
            each = start()
            while True:
                try:
                    block = waiting.popleft()
                except IndexError:
                    return
                each(block)

    threads = min(cores(), MOST_THREADS, len(waiting))
    if threads < 2 or plan.rows * plan.columns < _WORTH_THREADS:  # noqa: PLR2004  # one thread is this one
        work()
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()
