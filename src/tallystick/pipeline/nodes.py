"""YAML text → nodes that know their places: a plain subset of YAML, within limits."""

from typing import Any

import yaml
from yaml.composer import Composer
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import Resolver
from yaml.scanner import Scanner

from tallystick.finding import Place
from tallystick.formats.json_source import Path, pointer
from tallystick.pipeline.findings import TOO_LARGE, YAML_INVALID, YAML_UNSUPPORTED, Findings

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 60
MAX_NODES = 50_000
"""With every alias counted as what it stands for."""

_MERGE = "tag:yaml.org,2002:merge"


class _TooDeep(Exception):
    def __init__(self, mark: Any) -> None:
        self.mark = mark


class _Loader(Reader, Scanner, Parser, Composer, Resolver):
    """Composes nodes and nothing more: no objects are made of them."""

    def __init__(self, text: str, findings: Findings) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        Resolver.__init__(self)
        self._findings = findings
        self._depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if not isinstance(event, AliasEvent) and event.tag:
            self._findings.add(
                YAML_UNSUPPORTED,
                _at(event.start_mark),
                f"the tag `{event.tag[:60]}` is not read here",
                "leave it out; a text that looks like something else is put in quotes",
            )
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _TooDeep(event.start_mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def compose(text: str, findings: Findings) -> Node | None:
    """The file's one document. None where there is a finding instead."""
    if len(text) > MAX_CHARACTERS:
        message = f"the file has {len(text)} characters, more than the {MAX_CHARACTERS} that are read"
        findings.add(TOO_LARGE, Place("", 1, 1), message, "cut it into several files")
        return None
    try:
        root = _Loader(text, findings).get_single_node()
    except ReaderError as e:
        before = text[: e.position]
        at = Place("", before.count("\n") + 1, len(before) - before.rfind("\n"))
        findings.add(YAML_INVALID, at, f"YAML has no character U+{int(e.character):04X}", "take it out")
        return None
    except yaml.MarkedYAMLError as e:
        findings.add(YAML_INVALID, _at(e.problem_mark or e.context_mark), *_syntax(e))
        return None
    except _TooDeep as e:
        findings.add(TOO_LARGE, _at(e.mark), f"nested deeper than {MAX_DEPTH} levels", "write it with fewer levels")
        return None
    if root is None or not _is_bounded(root, findings):
        if root is None:
            findings.add(YAML_INVALID, Place("", 1, 1), "the file is empty", "begin with `clusters:`")
        return None
    return root


def place(node: Node, path: Path) -> Place:
    return Place(pointer(path), node.start_mark.line + 1, node.start_mark.column + 1)


def shown(node: Node) -> str:
    """What stands there, in few words."""
    match node:
        case ScalarNode():
            return "nothing" if not node.value and node.style is None else repr(node.value[:60])
        case SequenceNode():
            return "a list"
        case _:
            return "a mapping"


def is_merge(node: Node) -> bool:
    return bool(node.tag == _MERGE)


def _at(mark: Any) -> Place:
    return Place("") if mark is None else Place("", mark.line + 1, mark.column + 1)


def _syntax(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    """What PyYAML says, and what to do about it."""
    problem = str(error.problem or "this cannot be read")
    context = f" {error.context}" if error.context else ""
    message = f"this is no YAML: {problem}{context}"
    if "'\\t'" in problem:
        return message, "indent with spaces: YAML takes no tabs for that"
    if "but got '{'" in problem or "but got '['" in problem:
        return message, 'between braces put a text that has braces or brackets in it into quotes, as "${NAME}"'
    if "mapping values are not allowed" in problem:
        return message, "put a text that has a colon and a space in it into quotes"
    if "but found another document" in problem:
        return message, "write one pipeline in a file"
    if "undefined alias" in problem:
        return message, "an alias comes after its anchor; a text that begins with * is put in quotes"
    if "duplicate anchor" in f"{problem}{context}":
        return message, "give every anchor a name of its own"
    if "cannot start any token" in problem:
        return message, "put a text that begins with this character into quotes"
    return message, "look at the indentation, the quotes and the brackets of this line and the one before"


def _is_bounded(root: Node, findings: Findings) -> bool:
    """Aliases stand for what they name: a short text may mean very much, or itself."""
    count = 0
    stack: list[tuple[Node, int]] = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            message = f"more than {MAX_NODES} values, or {MAX_DEPTH} levels, if aliases count as what they stand for"
            findings.add(TOO_LARGE, _at(node.start_mark), message, "use fewer aliases, or cut the file into several")
            return False
        if isinstance(node, SequenceNode):
            stack += [(item, depth + 1) for item in node.value]
        elif isinstance(node, MappingNode):
            stack += [(item, depth + 1) for pair in node.value for item in pair]
    return True
