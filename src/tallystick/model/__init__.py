"""The values that every other part speaks of. Frozen, no I/O, standard library only."""
