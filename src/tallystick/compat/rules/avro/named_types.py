"""Rules for the names of types, for enums and for fixed."""

from collections.abc import Iterator

from tallystick.compat.rule import BACKWARD, FORWARD, Rule, rule
from tallystick.compat.rules.avro.pair import RESOLUTION, Pair
from tallystick.finding import Finding
from tallystick.formats.avro.places import Spot
from tallystick.formats.avro.types import Enum, Fixed, enumerated


@rule(
    "AVRO_NAME_CHANGED",
    "A record, enum or fixed keeps its name, or the reader's schema has the writer's name as an alias.",
    BACKWARD,
    FORWARD,
    source=f"{RESOLUTION} and Aliases",
)
def name_changed(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old, pair.new
    if pair.direction is BACKWARD:
        fix = f'name it `{old.name}` again, or add "aliases": ["{old.name}"] to `{new.name}`'
    else:
        fix = f"name it `{old.name}` again; an alias in the new schema cannot help readers with the old one"
    yield pair.finding(
        name_changed,
        f"{old.kind} `{old.name}` is now called `{new.name}`, and the reader does not know that they are the same",
        fix,
        reader=Spot(pair.reader.name, ("name",)),
        writer=Spot(pair.writer.name, ("name",)),
        was=old.name,
        now=new.name,
    )


@rule("AVRO_FIXED_SIZE_CHANGED", "A fixed keeps its size.", BACKWARD, FORWARD, source=f"{RESOLUTION}, fixed")
def fixed_size_changed(pair: Pair) -> Iterator[Finding]:
    old, new = pair.old, pair.new
    if isinstance(old, Fixed) and isinstance(new, Fixed) and old.size != new.size:
        yield pair.finding(
            fixed_size_changed,
            f"fixed `{new.name}` has {new.size} bytes now and had {old.size}",
            f"keep the size {old.size}, or add a new field with a fixed of another name",
            reader=Spot(pair.reader.name, ("size",)),
            writer=Spot(pair.writer.name, ("size",)),
            was=f"{old.size} bytes",
            now=f"{new.size} bytes",
        )


@rule(
    "AVRO_ENUM_SYMBOL_REMOVED",
    "A symbol may be removed only from an enum that has a default.",
    BACKWARD,
    source=f"{RESOLUTION}, enums",
)
def enum_symbol_removed(pair: Pair) -> Iterator[Finding]:
    gone = _unknown_symbols(pair)
    if gone:
        yield _symbols_finding(
            pair,
            enum_symbol_removed,
            f"{_symbols(gone)} removed from enum `{pair.new.name}`, which has no default, so records that hold "
            f"{_it(gone)} cannot be read",
            f'keep {_it(gone)}, or give the enum a default: "default": "{_first_symbol(pair.new)}"',
        )


@rule(
    "AVRO_ENUM_SYMBOL_ADDED",
    "A symbol may be added only if the enum had a default before.",
    FORWARD,
    source=f"{RESOLUTION}, enums",
)
def enum_symbol_added(pair: Pair) -> Iterator[Finding]:
    added = _unknown_symbols(pair)
    if added:
        yield _symbols_finding(
            pair,
            enum_symbol_added,
            f"{_symbols(added)} added to enum `{pair.new.name}`, which had no default, so readers with the old "
            f"schema do not know what to make of {_it(added)}",
            f"first register a version whose enum has a default, move all readers to it, and add {_it(added)} then",
        )


def _unknown_symbols(pair: Pair) -> list[str]:
    if pair.reader.default is not None:
        return []
    known = set(pair.reader.symbols)
    return [symbol for symbol in pair.writer.symbols if symbol not in known]


def _symbols_finding(pair: Pair, violated: Rule, message: str, fix: str) -> Finding:
    first_unknown = pair.writer.symbols.index(_unknown_symbols(pair)[0])
    return pair.finding(
        violated,
        message,
        fix,
        reader=Spot(pair.reader.name, ("symbols",)),
        writer=Spot(pair.writer.name, ("symbols", first_unknown)),
        was=enumerated(pair.old.symbols),
        now=enumerated(pair.new.symbols),
    )


def _symbols(symbols: list[str]) -> str:
    quoted = [f"`{symbol}`" for symbol in symbols]
    return f"symbol {quoted[0]} is" if len(quoted) == 1 else f"symbols {enumerated(quoted)} are"


def _it(symbols: list[str]) -> str:
    return "it" if len(symbols) == 1 else "them"


def _first_symbol(enum: Enum) -> str:
    return enum.symbols[0] if enum.symbols else "…"
