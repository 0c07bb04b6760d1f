"""Bytes ↔ values, nothing else: no I/O, no state beyond a reader's buffer."""
