"""`tally demo` and its schemas."""
