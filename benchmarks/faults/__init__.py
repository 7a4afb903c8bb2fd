"""Faults planted into exported graphs: how many the numeric gate finds, beside the fixed rules of other tools."""
