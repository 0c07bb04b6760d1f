"""Many rows in one statement, which costs one hand-over of the interpreter's lock however many they are."""

from functools import cache

MOST_ROWS = 1024


def padded(parameters: list[object], columns: int) -> tuple[str, list[object]]:
    """A VALUES clause for the rows, of a length that is a power of four: a handful of statements, each prepared
    once, serves for any number of rows. The rows that are not needed are NULL, for the statement to leave out.
    """
    rows = 1
    while rows * columns < len(parameters):
        rows *= 4
    return _values(rows, columns), parameters + [None] * (rows * columns - len(parameters))


@cache
def _values(rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"(VALUES {', '.join([row] * rows)})"
