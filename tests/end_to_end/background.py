"""Commands that take seconds each, run beside each other and looked at by many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from parity.environment import cores
from tests.end_to_end.command import Ran


class Background:
    """Runs by name; asking for one waits for it."""

    def __init__(self, runs: Mapping[str, Future[Ran]]) -> None:
        self._runs = runs

    def __getitem__(self, name: str) -> Ran:
        return self._runs[name].result()


@contextmanager
def background(commands: Mapping[str, Callable[[], Ran]]) -> Iterator[Background]:
    """Start every command, as many at a time as there are cores; what nobody waits for is not run to its end."""
    with ThreadPoolExecutor(max_workers=min(cores(), 4)) as pool:
        try:
            yield Background({name: pool.submit(command) for name, command in commands.items()})
        finally:
            pool.shutdown(cancel_futures=True)
