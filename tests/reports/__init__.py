"""Tests of the reports, as a package so that they share `examples`."""
