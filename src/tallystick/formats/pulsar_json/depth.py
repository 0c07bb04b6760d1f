"""How deep a value may be nested."""

MAX_VALUE_DEPTH = 64
"""Objects and lists within each other. Reading takes a few Python frames for each, and must not run out of them."""


class TooDeep(Exception):
    pass
