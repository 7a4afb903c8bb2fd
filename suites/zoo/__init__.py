"""Real trained models whose weights lie in packages, and what parity says of each of them today."""
