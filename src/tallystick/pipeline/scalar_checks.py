"""Scalars against the shapes that take one: texts with their references, choices, numbers, secrets."""

from collections.abc import Sequence
from typing import Any

from yaml.nodes import Node, ScalarNode

from tallystick.finding import Place
from tallystick.pipeline import findings as rules
from tallystick.pipeline import scalars, shapes, telling
from tallystick.pipeline.environment import Environ, substituted, variable_of
from tallystick.pipeline.findings import Findings
from tallystick.pipeline.scalars import Kind
from tallystick.pipeline.shapes import Shape

SECRET_OPTION = r"^(?!.*\.(url|location|class)$).*(password|secret|token|jaas|credential|key\.pem)"  # noqa: S105
"""Names of options that hold a secret."""

Known = tuple[Any, bool]
"""A value, or None where there is a finding instead; and whether its references are resolved."""


class ScalarChecker:
    def __init__(self, found: Findings, environ: Environ, clusters: Sequence[str]) -> None:
        self._findings = found
        self._environ = environ
        self._clusters = clusters

    def check(self, node: Node, shape: Shape, place: Place) -> Known:
        if not isinstance(node, ScalarNode) or scalars.kind(node) is Kind.NOTHING:
            telling.wrong_type(self._findings, node, shape, place)
            return None, True
        match shape:
            case shapes.Choice():
                return self._choice(node, shape, place), True
            case shapes.ClusterName():
                return self._cluster(node, place), True
            case shapes.Number():
                return self._number(node, shape, place), True
            case shapes.Truth():
                return self._truth(node, shape, place), True
            case shapes.Sql():
                return self._resolved(node.value, place)
            case shapes.ReaderChoice() if scalars.kind(node) is Kind.WHOLE:
                return self._number(node, shapes.Number(1), place), True
            case _:
                return self._text(node, shape, place)

    def secret(self, name: str, variable: str | None, node: Node, place: Place) -> Known:
        """`variable` is what stands in `{env: …}`; None where there is no such mapping."""
        told = f"${{{variable}}}" if variable is not None else node.value if isinstance(node, ScalarNode) else ""
        asked = variable_of(told)
        if asked is None:
            self._no_reference(name, node, place)
            return None, True
        if self._environ is None:
            return told, False
        if not self._environ.get(asked):
            self._no_variable(asked, place)
            return None, True
        return self._environ[asked], True

    def option(self, node: Node, place: Place) -> Known:
        if not isinstance(node, ScalarNode) or scalars.kind(node) is Kind.NOTHING:
            telling.wrong_type(self._findings, node, shapes.Option(), place)
            return None, True
        match scalars.kind(node):
            case Kind.TEXT:
                return self._resolved(node.value, place)
            case Kind.AMBIGUOUS:
                telling.ambiguous(self._findings, node, place)
        return scalars.value(node), True

    def _text(self, node: ScalarNode, shape: Shape, place: Place) -> Known:
        match scalars.kind(node):
            case Kind.AMBIGUOUS:
                telling.ambiguous(self._findings, node, place)
                return None, True
            case Kind.TRUTH | Kind.WHOLE | Kind.NUMBER:
                text = node.value[:60]
                message = f"{shape.expected} is expected here, not {text}"
                fix = f'write "{text}", with the quotes, if that is what you mean'
                self._findings.add(rules.TYPE_WRONG, place, message, fix, text)
                return None, True
        text, is_known = self._resolved(node.value, place)
        if text is None or not is_known or not isinstance(shape, shapes.Text) or shape.refuse is None:
            return text, is_known
        fault = shape.refuse(text)
        if fault is not None:
            # The text as the file has it: what the environment holds is nobody's business.
            shown = "this" if fault.rule == rules.SECRET_LITERAL else repr(node.value[:60])
            self._findings.add(fault.rule, place, f"{shown} {fault.reason}", fault.fix)
        return text, is_known

    def _resolved(self, text: str, place: Place) -> Known:
        if not text.strip():
            telling.empty(self._findings, "text", place)
            return None, True
        made = substituted(text, self._environ)
        for name in made.missing:
            self._no_variable(name, place, f"; or write ${{{name}:-…}} with what counts without it")
        for part in made.malformed:
            message = f"`{part}` is no reference to the environment"
            fix = "write ${NAME} or ${NAME:-what else}; a ${ that is meant as it stands is written $${"
            self._findings.add(rules.VARIABLE_MALFORMED, place, message, fix)
        return (None, True) if made.missing or made.malformed else (made.text, made.is_known)

    def _choice(self, node: ScalarNode, shape: shapes.Choice, place: Place) -> str | None:
        # As it stands: `on` and `off` are words here, whatever YAML takes them for.
        word = node.value
        if word in shape.words:
            return shape.make(word)
        meant = shape.others.get(word.lower()) or telling.close(word, shape.words)
        fix = f"did you mean `{meant}`?" if meant else f"write {shape.expected}"
        self._findings.add(rules.VALUE_INVALID, place, f"{word[:60]!r} is not {shape.expected}", fix, word[:60])
        return None

    def _cluster(self, node: ScalarNode, place: Place) -> str | None:
        name: str = node.value
        if name in self._clusters:
            return name
        meant = telling.close(name, self._clusters)
        known = ", ".join(f"`{one}`" for one in self._clusters) or "none"
        fix = f"did you mean `{meant}`?" if meant else f"add it under `clusters`, or take one that is there: {known}"
        self._findings.add(rules.CLUSTER_UNKNOWN, place, f"there is no cluster {name[:60]!r}", fix, name[:60])
        return None

    def _number(self, node: ScalarNode, shape: shapes.Number, place: Place) -> int | float | None:
        found = scalars.kind(node)
        if found is not Kind.WHOLE and (shape.is_whole or found is not Kind.NUMBER):
            telling.wrong_type(self._findings, node, shape, place)
            return None
        number: int | float = scalars.value(node)
        if number < shape.minimum:
            message = f"{shape.expected} is expected here, not {node.value}"
            self._findings.add(rules.VALUE_INVALID, place, message, f"write {shape.expected}", node.value)
        return number

    def _truth(self, node: ScalarNode, shape: shapes.Truth, place: Place) -> bool | None:
        match scalars.kind(node):
            case Kind.TRUTH:
                return bool(scalars.value(node))
            case Kind.AMBIGUOUS:
                telling.ambiguous(self._findings, node, place, "write true or false")
            case _:
                telling.wrong_type(self._findings, node, shape, place)
        return None

    def _no_reference(self, name: str, node: Node, place: Place) -> None:
        fix = f"set a variable of the environment, and write `{name}: ${{NAME}}` or `{name}: {{env: NAME}}`"
        if isinstance(node, ScalarNode) and scalars.kind(node) is not Kind.NOTHING:
            message = f"`{name}` is a secret, and does not stand in the file"
            self._findings.add(rules.SECRET_LITERAL, place, message, fix)
        else:
            self._findings.add(rules.TYPE_WRONG, place, f"{shapes.Secret().expected} is expected here", fix)

    def _no_variable(self, name: str, place: Place, otherwise: str = "") -> None:
        message = f"the environment has no variable {name}"
        self._findings.add(rules.VARIABLE_MISSING, place, message, f"set {name}{otherwise}", name)
