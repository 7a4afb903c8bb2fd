"""What an eager pass shows of what exports get wrong: one observer a file, findings without an opinion."""
