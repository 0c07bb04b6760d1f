"""`tally topic schemas`: the versions of a topic's schema, as its cluster or its registry keeps them."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli.registry_options import EXIT_CODES, RegistryOptions, answer, credentials, registry_command
from tallystick.errors import InvalidSchema, NotFound, Unsupported

if TYPE_CHECKING:
    from tallystick.model.definition import SchemaDefinition
    from tallystick.model.subject import Subject
    from tallystick.rest import RegistryClient
    from tallystick.rest.pulsar_topics import TopicSchema

Row = dict[str, object]

_PULSAR = "pulsar"


@click.command(epilog=EXIT_CODES)
@click.argument("topic")
@registry_command
def schemas(topic: str, registry: RegistryOptions, output: str, colour: str) -> None:
    """List the versions of TOPIC's schema: type, id, name of the record, and when each was registered.

    Asks Pulsar's admin API, which our own server and Pulsar clusters have, and registries for the subjects that Kafka's
    clients use, TOPIC-value and TOPIC-key. What is not told is left out.
    """
    with registry.open() as client:
        found = list(_rows(client, registry, topic))
    if not found:
        raise NotFound(f"{topic} has no schemas at {registry.url}")
    answer(found, output, *_lines(found))


def _rows(client: "RegistryClient", registry: RegistryOptions, topic: str) -> Iterator[Row]:
    own, *others = _subjects(topic)
    listed = _listed(registry, topic) if registry.dialect in ("auto", _PULSAR) else []
    if client.dialect == _PULSAR:
        yield from (_row(own, each) for each in listed)
        return
    known = {row["version"]: row for row in _of_subject(client, own)}
    yield from ({**_row(own, each), **known.pop(each.version, {})} for each in listed)
    yield from known.values()
    for subject in others:
        yield from _of_subject(client, subject)


def _subjects(topic: str) -> "list[Subject]":
    """The topic's own, and those that Kafka's clients use."""
    from tallystick.model.naming import pulsar_subject
    from tallystick.serde.subjects import Naming

    naming = Naming()
    tenant, _, namespace = naming.namespace_of(topic).partition("/")
    own = pulsar_subject(tenant, namespace, topic.rpartition("/")[2])
    return [own, naming.subject(topic, None), naming.subject(topic, None, is_key=True)]


def _listed(registry: RegistryOptions, topic: str) -> "list[TopicSchema]":
    """What the admin API tells; nothing where there is none."""
    from tallystick.rest.pulsar_topics import PulsarTopics

    assert registry.url is not None
    known = credentials(registry.ca, registry.cert, registry.key, os.environ)
    with PulsarTopics(registry.url, credentials=known, timeout_s=registry.timeout_s) as topics:
        try:
            return topics.schemas(topic)
        except (NotFound, Unsupported):
            return []


def _row(subject: "Subject", found: "TopicSchema") -> Row:
    from tallystick.cli.topic_times import shown

    row = _described(subject, found.version, found.definition)
    return row if found.created is None else {**row, "created": shown(found.created)}


def _of_subject(client: "RegistryClient", subject: "Subject") -> Iterator[Row]:
    try:
        versions = client.versions(str(subject))
    except NotFound:
        return
    for number in versions:
        found = client.by_version(str(subject), number)
        row = _described(subject, number, found.definition)
        ids = {"id": found.id, "guid": found.guid and str(found.guid)}
        yield {**row, **{name: value for name, value in ids.items() if value is not None}}


def _described(subject: "Subject", version: int, definition: "SchemaDefinition") -> Row:
    row = {"subject": str(subject), "version": version, "type": str(definition.type), "record": _record(definition)}
    return {name: value for name, value in row.items() if value is not None}


def _record(definition: "SchemaDefinition") -> str | None:
    from tallystick.serde import records

    if not definition.text:
        return None
    try:
        return records.record_name(definition)
    except InvalidSchema:
        # It refers to others, which are not needed to list it.
        return None


def _lines(rows: list[Row]) -> Iterator[str]:
    subjects = dict.fromkeys(str(row["subject"]) for row in rows)
    for subject in subjects:
        if len(subjects) > 1:
            yield subject
        for row in rows:
            if row["subject"] == subject:
                parts = [str(row["type"]), str(row.get("record", "")), f"id {row['id']}" if "id" in row else ""]
                yield "  ".join([f"{row['version']:>4}", *filter(None, parts), str(row.get("created", ""))]).rstrip()
