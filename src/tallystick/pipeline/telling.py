"""What is said about mistakes that can happen anywhere in a file."""

import difflib
from collections.abc import Sequence

from yaml.nodes import Node, ScalarNode

from tallystick.finding import Place
from tallystick.pipeline import findings as rules
from tallystick.pipeline import nodes
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.shapes import Section, Shape


def wrong_type(found: Findings, node: Node, shape: Shape, place: Place) -> None:
    shown = nodes.shown(node)
    fix = "leave the key out, or fill it" if shown == "nothing" else f"write {shape.expected}"
    found.add(rules.TYPE_WRONG, place, f"{shape.expected} is expected here, not {shown}", fix, shown)


def ambiguous(found: Findings, node: ScalarNode, place: Place, fix: str | None = None) -> None:
    text = node.value[:60]
    message = f"`{text}` is a text to some readers of YAML, and to others it is none"
    found.add(rules.VALUE_AMBIGUOUS, place, message, fix or f'write "{text}", with the quotes', text)


def empty(found: Findings, what: str, place: Place) -> None:
    found.add(rules.VALUE_INVALID, place, f"this {what} is empty", "leave the key out, or fill it")


def missing(found: Findings, what: str, why: str, place: Place, fix: str) -> None:
    found.add(rules.KEY_MISSING, place, f"{what} is missing; {why}", fix)


def unknown_key(found: Findings, name: str, section: Section, place: Place) -> None:
    names = [key.name for key in section.keys]
    meant = next((key.name for key in section.keys if name.lower() in key.others), None) or close(name, names)
    fix = f"did you mean `{meant}`?" if meant else f"known here are {', '.join(f'`{known}`' for known in names)}"
    found.add(rules.KEY_UNKNOWN, place, f"there is no key `{name[:60]}` here", fix, name[:60])


def close(word: str, known: Sequence[str]) -> str | None:
    """The one that is probably meant."""
    by_lower = {one.lower().replace("-", "_"): one for one in known}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), by_lower, n=1)
    return by_lower[found[0]] if found else None
