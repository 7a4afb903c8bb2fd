"""Target against reference: findings, which have no opinion."""
