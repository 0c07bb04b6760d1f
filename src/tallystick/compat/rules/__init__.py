"""The rules of each format. Each module has `compare(old, new, direction, options)`, which yields findings."""
