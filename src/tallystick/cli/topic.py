"""`tally topic`: the topics of a broker and their subscriptions."""

import functools
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import (
    EXIT_CODES,
    RegistryOptions,
    answer,
    confirm,
    credentials,
    registry_command,
)
from tallystick.cli.topic_cluster import named_value
from tallystick.cli.topic_consume import consume
from tallystick.cli.topic_places import EARLIEST, LATEST, no_place, time_of
from tallystick.cli.topic_produce import produce
from tallystick.cli.topic_schemas import schemas

if TYPE_CHECKING:
    from tallystick.rest.pulsar_topics import PulsarTopics

_MESSAGE_ID = re.compile(r"(\d{1,18}):(-1|\d{1,18})")


def _with_topics(command: Callable[..., None]) -> Callable[..., int]:
    """A command that gets an open client of the admin API as its first argument."""

    @registry_command
    @functools.wraps(command)
    def run(registry: RegistryOptions, **more: Any) -> None:
        from tallystick.rest.pulsar_topics import PulsarTopics

        if registry.dialect not in ("auto", "pulsar"):
            raise unusable("topics are told over Pulsar's admin API", fix="leave out --dialect")
        assert registry.url is not None
        known = credentials(registry.ca, registry.cert, registry.key, os.environ)
        with PulsarTopics(registry.url, credentials=known, timeout_s=registry.timeout_s) as topics:
            command(topics, **more)

    return run


@click.group(epilog=EXIT_CODES)
def topic() -> None:
    """Look at the topics of a broker and their subscriptions, change them, and send and read messages.

    All but `produce` and `consume` work over Pulsar's admin API: with our own server, whose --registry URL has it too,
    and with Pulsar clusters. Those two speak to the --cluster itself: our own broker, Pulsar or Kafka. A TOPIC is a
    name in public/default, or TENANT/NAMESPACE/NAME; on Kafka, its name.
    """


@topic.command("list", epilog=EXIT_CODES)
@click.argument("namespace", default="public/default")
@_with_topics
def list_(topics: "PulsarTopics", namespace: str, output: str, colour: str) -> None:
    """List the topics of NAMESPACE, by default of public/default."""
    found = topics.topics(namespace)
    lines = [
        f"{each.topic}  {_count(each.partitions, 'partition')}" if each.partitions else each.topic for each in found
    ]
    answer([{"topic": each.topic, "partitions": each.partitions} for each in found], output, *lines)


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.option("--partitions", type=click.IntRange(1), help="A partitioned topic, with so many.")
@click.option("--property", "properties", multiple=True, metavar="NAME=VALUE", help="What is to be kept with it.")
@_with_topics
def create(
    topics: "PulsarTopics", topic: str, partitions: int | None, properties: tuple[str, ...], output: str, colour: str
) -> None:
    """Create TOPIC."""
    topics.create(topic, partitions, dict(named_value(text, "property") for text in properties))
    answer({"topic": topic, "partitions": partitions or 0}, output, f"created {topic}")


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.option("--force", is_flag=True, help="Even while producers or consumers use it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_with_topics
def delete(topics: "PulsarTopics", topic: str, force: bool, yes: bool, output: str, colour: str) -> None:
    """Delete TOPIC with its messages and subscriptions."""
    confirm(f"Delete {topic} with all its messages?", yes)
    topics.delete(topic, force=force)
    answer({"topic": topic, "deleted": True}, output, f"deleted {topic}")


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@_with_topics
def stats(topics: "PulsarTopics", topic: str, output: str, colour: str) -> None:
    """Show how much TOPIC holds, who uses it, and how far behind its subscriptions are.

    json and yaml show all that the server tells.
    """
    found = topics.stats(topic)
    answer(found, output, *_stats_lines(found))


def _stats_lines(found: dict[str, Any]) -> list[str]:
    lines = [
        f"in         {_traffic(found, 'In')}",
        f"out        {_traffic(found, 'Out')}",
        f"stored     {_count(found.get('storageSize', 0), 'byte')}",
    ]
    if "partitions" in found:
        lines.append(f"partitions {len(found['partitions'])}")
    else:
        lines.append(f"producers  {len(found.get('publishers', []))}")
    for name, subscription in sorted(found.get("subscriptions", {}).items()):
        lines.append(f"{name}: {_behind(subscription)}")
    return lines


def _traffic(found: dict[str, Any], way: str) -> str:
    messages, size = found.get(f"msg{way}Counter", 0), found.get(f"bytes{way}Counter", 0)
    return f"{_count(messages, 'message')}, {_count(size, 'byte')}, {found.get(f'msgRate{way}', 0.0):.1f} messages/s"


def _behind(subscription: dict[str, Any]) -> str:
    entries = subscription.get("msgBacklog", 0)
    told = [
        str(subscription.get("type") or "not in use"),
        f"{entries} {'entry' if entries == 1 else 'entries'} behind",
        f"{subscription.get('unackedMessages', 0)} not acknowledged",
    ]
    consumers = subscription.get("consumers", [])
    return ", ".join([*told, _count(len(consumers), "consumer")] if consumers else told)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.option("--to", "wanted", type=click.IntRange(1), help="Add partitions until there are so many.")
@_with_topics
def partitions(topics: "PulsarTopics", topic: str, wanted: int | None, output: str, colour: str) -> None:
    """Show how many partitions TOPIC has, or add some; 0 is a topic without partitions.

    Keys may move to other partitions when there are more.
    """
    if wanted is not None:
        topics.set_partitions(topic, wanted)
    number = topics.partitions(topic)
    answer({"topic": topic, "partitions": number}, output, str(number))


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@_with_topics
def subscriptions(topics: "PulsarTopics", topic: str, output: str, colour: str) -> None:
    """List the subscriptions of TOPIC."""
    names = topics.subscriptions(topic)
    answer(names, output, *names)


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.argument("subscription")
@click.option("--count", type=click.IntRange(1), help="The next entries; a batch of messages is one entry.")
@click.option("--all", "everything", is_flag=True, help="The whole backlog.")
@_with_topics
def skip(
    topics: "PulsarTopics",
    topic: str,
    subscription: str,
    count: int | None,
    everything: bool,
    output: str,
    colour: str,
) -> None:
    """Leave out messages that SUBSCRIPTION has not read: it never gets them."""
    if (count is None) != everything:
        raise unusable("how much is to be skipped?", fix="give --count NUMBER, or --all")
    topics.skip(topic, subscription, count)
    told = "everything" if count is None else "1 entry" if count == 1 else f"{count} entries"
    answer({"topic": topic, "subscription": subscription, "skipped": count or "all"}, output, f"skipped {told}")


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.argument("subscription")
@click.option(
    "--to",
    "place",
    required=True,
    metavar="PLACE",
    help="earliest, latest, a time (2026-01-31T12:00:00, in UTC), an age (30s, 15m, 2h, 7d) or LEDGER:ENTRY.",
)
@_with_topics
def reset(topics: "PulsarTopics", topic: str, subscription: str, place: str, output: str, colour: str) -> None:
    """Let SUBSCRIPTION start again from PLACE: it gets again what comes after it, and leaves out what is before."""
    message_id = _MESSAGE_ID.fullmatch(place)
    if message_id is not None:
        topics.reset_to_id(topic, subscription, int(message_id[1]), int(message_id[2]))
    elif place == LATEST:
        topics.skip(topic, subscription, None)
    else:
        topics.reset_to_time(topic, subscription, _milliseconds(place, datetime.now(UTC)))
    told = f"{subscription} starts again from {place}"
    answer({"topic": topic, "subscription": subscription, "to": place}, output, told)


def _milliseconds(place: str, now: datetime) -> int:
    """When that is; the earliest is the beginning of time."""
    if place == EARLIEST:
        return 0
    at = time_of(place, now)
    if at is None:
        raise no_place(place, "LEDGER:ENTRY")
    return max(0, int(at.timestamp() * 1000))


@topic.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.argument("subscription")
@click.option("--force", is_flag=True, help="Even while consumers use it.")
@_with_topics
def unsubscribe(topics: "PulsarTopics", topic: str, subscription: str, force: bool, output: str, colour: str) -> None:
    """Delete SUBSCRIPTION: what it has not read is not kept for it any more."""
    topics.unsubscribe(topic, subscription, force=force)
    answer({"topic": topic, "subscription": subscription, "deleted": True}, output, f"deleted {subscription}")


for command in (consume, produce, schemas):
    topic.add_command(command)
