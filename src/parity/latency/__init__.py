"""Bursts of calls in fresh processes, interleaved, and what they say."""
