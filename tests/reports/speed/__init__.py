"""How speed looks in every report."""
