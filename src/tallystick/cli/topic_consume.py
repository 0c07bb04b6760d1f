"""`tally topic consume`: messages with the schema that each was written with."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import DONE, REFUSED, rendered
from tallystick.cli.terminal import write
from tallystick.cli.topic_cluster import ClusterOptions, cluster_command
from tallystick.cli.topic_places import EARLIEST, LATEST, place_of

if TYPE_CHECKING:
    from tallystick.cli.topic_messages import Shown
    from tallystick.cli.topic_reading import Reading
    from tallystick.messaging.consumer import Consumer
    from tallystick.messaging.message import Message

INTERRUPTED = 130
EXIT_CODES = (
    "Exit codes: 0 done, 1 a message cannot be read or the cluster refuses, 2 bad input, 3 out of reach, 70 internal"
    " error."
)


@click.command(epilog=EXIT_CODES)
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")
@click.option(
    "--subscription",
    metavar="NAME",
    help="Read as a consumer of this subscription, which keeps its place: what is shown is acknowledged. Without it"
    " no place is kept.",
)
@click.option(
    "--from",
    "start",
    default=EARLIEST,
    show_default=True,
    metavar="PLACE",
    help="Where to begin; a subscription, when it is new: earliest, latest, a time (2026-01-31T12:00:00, in UTC), an"
    " age (30s, 15m, 2h, 7d) or the position of a message.",
)
@click.option("--count", type=click.IntRange(1), help="End after so many messages.")
@click.option(
    "--follow/--no-follow",
    default=False,
    show_default=True,
    help="Go on with messages as they come. Without: end with the last message that there is at the start, or when"
    " none comes for --timeout seconds.",
)
@click.option(
    "--show",
    type=click.Choice(["value", "message", "all"]),
    default="message",
    show_default=True,
    help="The value alone, with what matters of the message, or with everything.",
)
@cluster_command
def consume(
    cluster: ClusterOptions,
    topics: tuple[str, ...],
    subscription: str | None,
    start: str,
    count: int | None,
    follow: bool,
    show: str,
    output: str,
    colour: str,
) -> int:
    """Show the messages of TOPIC, each with its schema version, position, key and times, and its value as JSON.

    A message that cannot be read is shown with the findings, and does not end it. With --output json each message is
    one line, with yaml one document. How many there were goes to standard error.

    \b
    tally topic consume orders
    tally topic consume orders --from 15m --show value --output json
    tally topic consume orders returns --follow --subscription audit
    """
    from tallystick.cli.topic_reading import Reading

    place = place_of(start, datetime.now(UTC), is_kafka=cluster.is_kafka)
    if place == LATEST and subscription is None and not follow:
        raise unusable("after the latest message there is nothing yet", fix="give --follow, or another --from")
    is_position = not isinstance(place, str | datetime)
    if is_position and len(topics) > 1:
        raise unusable("a position is one of a single topic", fix="name one TOPIC")
    if is_position and subscription is not None:
        raise unusable("a subscription keeps a place of its own", fix="move it with `tally topic reset`")
    showing = _Showing(output, show, count)
    with cluster.open(with_registry=True) as connected:
        reading = Reading(connected.client, cluster, subscription, place)
        try:
            _show_all(reading, showing, topics, follow=follow)
        except KeyboardInterrupt:
            return INTERRUPTED
    showing.summarise()
    return REFUSED if showing.unreadable else DONE


def _show_all(reading: "Reading", showing: "_Showing", topics: Sequence[str], *, follow: bool) -> None:
    if follow:
        with reading.opened(topics) as consumer:
            showing.show(consumer, reading.endless(consumer))
        return
    # Each topic has its own end, so one is read after the other.
    for topic in topics:
        if not showing.is_full:
            with reading.opened([topic]) as consumer:
                showing.show(consumer, reading.to_the_end(consumer))


class _Showing:
    """Writes messages, and acknowledges what is written."""

    def __init__(self, output: str, show: str, count: int | None) -> None:
        self.shown = 0
        self.unreadable = 0
        self._output = output
        self._show = show
        self._count = count

    @property
    def is_full(self) -> bool:
        return self._count is not None and self.shown >= self._count

    def show(self, consumer: "Consumer[Any]", batches: "Iterable[list[Message[Any]]]") -> None:
        for batch in batches:
            self._write(batch if self._count is None else batch[: self._count - self.shown], consumer)
            if self.is_full:
                return

    def _write(self, messages: "list[Message[Any]]", consumer: "Consumer[Any]") -> None:
        from tallystick.cli.topic_messages import Shown

        if not messages:
            return
        shown = [Shown(message) for message in messages]
        # Flushed with this, so that nothing is acknowledged that whoever reads the output has not got.
        write("\n".join(map(self._text, shown)))
        self.shown += len(shown)
        self.unreadable += sum(each.error is not None for each in shown)
        if consumer.subscription is not None:
            for message in messages:
                consumer.acknowledge(message)

    def _text(self, shown: "Shown") -> str:
        if self._output == "text":
            return "\n".join(shown.lines(self._show))
        document = shown.document(self._show)
        if self._output == "json":
            return json.dumps(document, ensure_ascii=False)
        return f"---\n{rendered(document, self._output)}"

    def summarise(self) -> None:
        failed = f", {self.unreadable:,} of them cannot be read" if self.unreadable else ""
        click.echo(f"{self.shown:,} message{'' if self.shown == 1 else 's'}{failed}", err=True)
