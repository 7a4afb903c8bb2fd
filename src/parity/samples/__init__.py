"""Held-out and calibration inputs, and which of them go into which call."""
