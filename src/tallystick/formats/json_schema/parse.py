"""From a definition to a schema: every schema object as a node, and a validator for values."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

import jsonschema_rs

from tallystick.errors import InvalidSchema
from tallystick.formats.format import Schema
from tallystick.formats.json_schema import in_place, keywords
from tallystick.formats.json_schema.draft import DEFAULT_DRAFT, PATTERN_OPTIONS, Draft
from tallystick.formats.json_schema.locations import Location, Locations, check_against_draft
from tallystick.formats.json_schema.node import Node
from tallystick.formats.json_schema.source import Source
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA

_HERE = "https://schema.invalid/"
"""Where a text without an `$id` is said to stand, so that relative references have something to start from."""


@dataclass(frozen=True, slots=True, eq=False)
class JsonSchema(Schema):
    source: Source
    root: Node
    validator: jsonschema_rs.Validator
    registry: jsonschema_rs.Registry
    uris: Mapping[Source, str]
    """Every text of the schema, with the URI under which the registry knows it."""
    steps: int
    """The longest chain of schema objects that speak of one value."""
    is_dynamic: bool
    """Whether a dynamic reference may lead to several places, so that no part can be judged on its own."""

    @property
    def draft(self) -> Draft:
        return self.source.draft


def parse(definition: SchemaDefinition, references: References) -> JsonSchema:
    source = _checked(definition.text)
    texts = _Texts(source)
    texts.add_references(definition, references)
    locations = Locations()
    for uri, text in texts.by_uri.items():
        locations.add(text, uri)
    nodes = _nodes(locations, texts)
    steps = in_place.settle(nodes.values())
    for node in nodes.values():
        in_place.say_unevaluated_otherwise(node)
    _fix_keys(nodes)
    registry = jsonschema_rs.Registry(
        [(uri, text.value) for uri, text in texts.by_uri.items()], draft=_number(source.draft)
    )
    return JsonSchema(
        definition=definition,
        source=source,
        root=nodes[locations.at(source, ())],
        validator=_validator(source, registry, texts.uris[source]),
        registry=registry,
        uris=texts.uris,
        steps=steps,
        is_dynamic=any(node.dynamic for node in nodes.values()),
    )


class _Texts:
    """The text of a definition and those of its references, each with the URIs by which others name it."""

    def __init__(self, root: Source) -> None:
        self.uris = {root: _own_uri(root, _HERE)}
        self.by_uri = {self.uris[root]: root}

    def add_references(self, definition: SchemaDefinition, references: References) -> None:
        sources: dict[Reference, Source] = {}
        root = next(iter(self.uris))
        needed = dependencies_first(definition, references)
        for reference, referenced in needed:
            sources[reference] = _referenced(reference, referenced, root.draft)
            self._enter(urljoin(self.uris[root], reference.name), sources[reference])
        for reference, referenced in needed:
            for other in referenced.references:
                self._enter(urljoin(self.uris[sources[reference]], other.name), sources[other])

    def _enter(self, uri: str, source: Source) -> None:
        bare = urldefrag(uri)[0]
        self.by_uri.setdefault(bare, source)
        self.uris.setdefault(source, _own_uri(source, bare))


def _own_uri(source: Source, uri: str) -> str:
    own = source.value.get(source.draft.id_keyword) if isinstance(source.value, dict) else None
    return urldefrag(urljoin(uri, own))[0] if isinstance(own, str) else uri


def _referenced(reference: Reference, definition: SchemaDefinition, draft: Draft) -> Source:
    if definition.type != JSON_SCHEMA:
        raise InvalidSchema(f"reference {reference.name!r} is of type {definition.type}, not {JSON_SCHEMA}")
    try:
        return _checked(definition.text, draft)
    except InvalidSchema as e:
        raise InvalidSchema(f"in reference {reference.name!r}: {e.reason}", e.place, e.fix) from e


def _checked(text: str, draft: Draft = DEFAULT_DRAFT) -> Source:
    source = Source(text, draft)
    try:
        json.dumps(source.value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as e:
        raise InvalidSchema("a text holds half of a surrogate pair, which is no character") from e
    except ValueError as e:
        raise InvalidSchema("a number is too large", fix="use a number below 1.8e308") from e
    check_against_draft(source, (), source.draft)
    return source


def _nodes(locations: Locations, texts: _Texts) -> dict[Location, Node]:
    links = _links(locations)
    nodes: dict[Location, Node] = {}
    # The inner ones first: a path is longer than the one around it.
    for location in sorted(locations, key=lambda location: -len(location.path)):
        nodes[location] = keywords.read(location, _child_of(location, locations, nodes))
    whole = hashlib.sha256("".join(source.text for source in texts.uris).encode()).hexdigest()
    for location, ways in links.items():
        for targets in ways:
            _link(nodes[location], [nodes[target] for target in targets], whole)
    return nodes


def _child_of(location: Location, locations: Locations, nodes: dict[Location, Node]) -> keywords.Child:
    return lambda *steps: nodes[locations.at(location.source, (*location.path, *steps))]


def _links(locations: Locations) -> dict[Location, list[list[Location]]]:
    """What each reference may lead to. Following one may find new locations, with references of their own."""
    links: dict[Location, list[list[Location]]] = {}
    while unseen := [location for location in locations if location not in links]:
        for location in unseen:
            links[location] = list(_ways(location, locations))
    return links


def _ways(location: Location, locations: Locations) -> Iterator[list[Location]]:
    raw, number = location.raw, location.draft.number
    if not isinstance(raw, dict):
        return
    if "$ref" in raw:
        yield [locations.target(location, "$ref")]
    dynamic = {2019: "$recursiveRef", 2020: "$dynamicRef"}.get(number)
    if dynamic is not None and dynamic in raw:
        yield locations.dynamic_targets(location, dynamic)


def _link(node: Node, targets: list[Node], whole: str) -> None:
    if len(targets) > 1:
        # Where it leads depends on the way to it, so it is the same only within the same texts.
        node.dynamic = f"{whole}{node.path}"
    elif node.ref is None:
        node.ref = targets[0]
    else:
        node.all_of += (targets[0],)


def _fix_keys(nodes: dict[Location, Node]) -> None:
    """Asks each node for its key once, the inner ones first, so that no later question has to go deep."""
    for node in nodes.values():
        assert node.key
        assert node.has_refs is not None


def _validator(source: Source, registry: jsonschema_rs.Registry, uri: str) -> jsonschema_rs.Validator:
    try:
        return source.draft.validator(
            source.value,
            registry=registry,
            base_uri=uri,
            validate_formats=False,
            pattern_options=PATTERN_OPTIONS,
            offline=True,
        )
    except jsonschema_rs.ValidationError as e:
        raise InvalidSchema(e.message, source.place(tuple(e.instance_path))) from e


def _number(draft: Draft) -> int:
    return {2019: jsonschema_rs.Draft201909, 2020: jsonschema_rs.Draft202012}.get(draft.number, draft.number)
