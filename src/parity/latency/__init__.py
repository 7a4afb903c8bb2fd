"""Bursts of calls, interleaved, and what they say."""
