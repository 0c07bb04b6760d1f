"""Names that every format takes: letters, digits and underscores, not starting with a digit."""

import re
from collections.abc import Collection, Iterator
from itertools import count

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def is_full_name(text: str) -> bool:
    return _FULL_NAME.fullmatch(text) is not None


def as_name(text: str) -> str:
    """The nearest name: `order-id` is `order_id`."""
    bare = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return bare if is_name(bare) else f"_{bare}"


def as_type_name(text: str) -> str:
    """A name of a type after that of a field: `order_id` is `OrderId`."""
    return as_name("".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", text)))


def free(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    return next(candidate for candidate in numbered(name) if candidate not in taken)


def numbered(name: str) -> Iterator[str]:
    """The name, and the name with the numbers from 2 on."""
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def unqualified(name: str) -> str:
    return name.rpartition(".")[2]


def namespace_of(name: str) -> str:
    return name.rpartition(".")[0]
