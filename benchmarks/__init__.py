"""What the claims about parity's own speed are measured with."""
