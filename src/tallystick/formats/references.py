"""References between definitions, put in an order in which each can be parsed."""

from collections.abc import Iterator

from tallystick.errors import InvalidSchema
from tallystick.model.definition import Reference, References, SchemaDefinition


def dependencies_first(
    definition: SchemaDefinition, references: References
) -> list[tuple[Reference, SchemaDefinition]]:
    """Everything the definition refers to, each after what it needs itself and each once per name.

    Raises `InvalidSchema` for a reference that is not in `references` and for a circle.
    """
    ordered: dict[Reference, SchemaDefinition] = {}
    open_: dict[Reference, None] = {}
    # An explicit stack: a chain of references may be longer than Python's.
    stack: list[tuple[Reference | None, Iterator[Reference]]] = [(None, iter(definition.references))]
    while stack:
        current, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            stack.pop()
            if current is not None:
                ordered[current] = references[current]
                del open_[current]
        elif following in open_:
            circle = " → ".join(f"{r.subject} version {r.version}" for r in [*open_, following])
            raise InvalidSchema(f"references form a circle: {circle}", fix="let one of them stand alone")
        elif following not in ordered:
            if following not in references:
                raise InvalidSchema(
                    f"reference {following.name!r} to subject {following.subject!r} version {following.version}"
                    " is not there",
                    fix="register the referenced schema first, or correct its subject and version",
                )
            open_[following] = None
            stack.append((following, iter(references[following].references)))
    return list(ordered.items())
