"""Decisions: what users act on. One kind a file; `compare_decisions` takes each output to its own."""

from parity.compare.decisions.compare import compare_decisions

__all__ = ["compare_decisions"]
