"""How speed looks in every report: what is shown of it first, the tables of all of it, and its plots."""
