"""Findings and measurements into verdicts."""
