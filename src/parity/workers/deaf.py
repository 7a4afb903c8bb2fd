"""Imported by the forkserver before anything slow: Ctrl-C is for the parent, and it ends with the parent."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
