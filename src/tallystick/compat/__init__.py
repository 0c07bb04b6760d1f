"""When two schemas fit, and why not: one rule engine for every format and every door.

`rule` holds the catalogue, `rules/` the rules of each format, `reading` asks whether one schema can read another,
`evolution` whether a schema may become the next version, `verification` whether a client may attach, `diff` what
changed at all.
"""
