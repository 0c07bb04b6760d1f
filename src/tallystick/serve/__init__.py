"""The one process of `tally serve`: store, registry and HTTP put together."""
