"""`tally topic produce`: lines of JSON become messages, each checked against the schema before it is sent."""

import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import DONE, REFUSED, answer
from tallystick.cli.terminal import show, terminal
from tallystick.cli.topic_cluster import ClusterOptions, Connected, cluster_command, named_value
from tallystick.errors import TallystickError
from tallystick.finding import Place

if TYPE_CHECKING:
    from tallystick.cli.topic_chosen_schema import ChosenSchema
    from tallystick.cli.topic_lines import BadLine, Source
    from tallystick.cli.topic_sending import Outcome, Rules
    from tallystick.messaging.producer import Producer

INTERRUPTED = 130
EXIT_CODES = (
    "Exit codes: 0 all sent, 1 a line does not fit or the cluster refuses, 2 bad input, 3 out of reach, 70 internal"
    " error."
)


@click.command(epilog=EXIT_CODES)
@click.argument("topic")
@click.argument("file", default="-", metavar="[FILE]")
@click.option(
    "--schema", "schema_file", metavar="FILE", help="The schema of the lines; by default the topic's latest one."
)
@click.option(
    "--type",
    "type_name",
    metavar="TYPE",
    help="With --schema: avro, json, protobuf, pulsar-json … where the file's ending does not tell it. Alone: a type"
    " without a text, such as int32; string and bytes send each line as it is.",
)
@click.option("--key-field", metavar="NAME", help="The field whose value is the message's key.")
@click.option("--property", "properties", multiple=True, metavar="NAME=VALUE", help="A property of every message.")
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="At a line that does not fit: stop, with nothing after it sent, or leave it out and go on.",
)
@click.option("--limit", type=click.IntRange(1), help="At most so many lines.")
@click.option("--batch", type=click.IntRange(1), default=1000, show_default=True, help="Messages in a batch, at most.")
@click.option(
    "--compression",
    type=click.Choice(["none", "lz4", "zlib", "zstd", "snappy"]),
    default="none",
    show_default=True,
    help="Of the batches.",
)
@cluster_command
def produce(
    cluster: ClusterOptions,
    topic: str,
    file: str,
    schema_file: str | None,
    type_name: str | None,
    key_field: str | None,
    properties: tuple[str, ...],
    on_error: str,
    limit: int | None,
    batch: int,
    compression: str,
    output: str,
    colour: str,
) -> int:
    """Send the lines of FILE to TOPIC, one JSON value a line. Without FILE, or with "-": those of standard input.

    Each line is checked against the schema before it is sent. The JSON is plain: the value of a union stands bare,
    bytes are Base64, decimals may be texts, times are those of ISO 8601.

    \b
    tally topic produce orders orders.ndjson --schema order.avsc --key-field id
    generate-orders | tally topic produce orders --on-error skip
    tally topic produce greetings words.txt --type string
    """
    from tallystick.cli import topic_lines
    from tallystick.cli.topic_chosen_schema import chosen, type_named
    from tallystick.cli.topic_sending import Rules
    from tallystick.messaging.settings import Compression

    schema_type = None if type_name is None else type_named(type_name)
    rules = Rules(file, key_field, dict(named_value(text, "property") for text in properties), on_error == "stop")
    settings = {"batch_messages": batch, "compression": Compression(compression), "send_timeout_s": cluster.timeout_s}
    with topic_lines.opened(file) as source, _opened(cluster) as connected:
        found = chosen(cluster, connected, topic, schema_file, schema_type)
        _refuse_contradictions(cluster, found, rules)
        with connected.client.producer(topic, _schema(cluster, found), **settings) as producer:
            run = _Run(topic, connected, found, producer, output, colour)
            return run.send(source, rules, limit)


def _opened(cluster: ClusterOptions) -> Any:
    """On Pulsar a registry changes who keeps the schemas: that must be meant, and not be there for other commands."""
    return cluster.open(with_registry=cluster.is_framed or cluster.is_registry_given)


def _schema(cluster: ClusterOptions, found: "ChosenSchema") -> Any:
    from tallystick.serde.primitive import BYTES

    # Registries of Kafka have no schemas for texts: they are bytes there.
    return BYTES if found.takes_lines and cluster.is_framed else found.schema()


def _refuse_contradictions(cluster: ClusterOptions, found: "ChosenSchema", rules: "Rules") -> None:
    if cluster.is_framed and not found.takes_lines:
        cluster.require_registry()
    if rules.key_field is not None and found.takes_lines:
        kind = found.definition.type
        raise unusable(f"lines of type {kind} have no fields, so none of them is a key", fix="leave out --key-field")


class _Run:
    def __init__(
        self,
        topic: str,
        connected: Connected,
        found: "ChosenSchema",
        producer: "Producer[Any]",
        output: str,
        colour: str,
    ) -> None:
        self._topic = topic
        self._connected = connected
        self._found = found
        self._producer = producer
        self._output = output
        self._terminal = terminal(colour, sys.stderr)

    def send(self, source: "Source", rules: "Rules", limit: int | None) -> int:
        from tallystick.cli.topic_progress import bar
        from tallystick.cli.topic_sending import Sending

        with bar(f"to {self._topic}", source.size) as advance:
            sending = Sending(self._producer, self._found, rules, self._tell, advance)
            try:
                sending.send(islice(source.lines(with_empty=self._found.takes_lines), limit))
            except KeyboardInterrupt:
                sending.finish()
                self._say(f"interrupted; {_messages(sending.outcome.sent)} sent before")
                return INTERRUPTED
            except TallystickError:
                self._say(f"{_messages(sending.outcome.sent)} sent before this:")
                raise
        self._report(sending.outcome)
        return REFUSED if sending.outcome.failed else DONE

    def _tell(self, bad: "BadLine") -> None:
        from tallystick.cli.output import text

        width = self._terminal.width
        lines = []
        for finding in bad.findings:
            lines += text.headline(bad.file, finding.new, finding.message, width)
            lines += text.labelled("fix", finding.fix, width, "green")
            lines += text.labelled("rule", finding.rule, width, "cyan")
        if not bad.findings:
            lines += text.headline(bad.file, Place("", bad.number, 1), bad.message, width)
        show(lines, self._terminal, sys.stderr)

    def _say(self, sentence: str) -> None:
        click.echo(f"tally: {sentence}", err=True)

    def _report(self, outcome: "Outcome") -> None:
        schema = self._schema()
        document: dict[str, object] = {
            "topic": self._topic,
            "sent": outcome.sent,
            "failed": outcome.failed,
            "seconds": round(outcome.seconds, 3),
            "schema": schema,
        }
        if outcome.stopped_at is not None:
            document["stopped_at_line"] = outcome.stopped_at
        document["bad_lines"] = [bad.as_dict() for bad in outcome.bad_lines]
        answer(document, self._output, *_summary(self._topic, outcome, schema))

    def _schema(self) -> dict[str, object]:
        """Type, name of the record, and where it stands in the topic's subject, or in the registry."""
        # Texts of Kafka are bytes: there is no schema of that type.
        kind = self._producer.schema.definition if self._found.takes_lines else self._found.definition
        told: dict[str, object] = {"type": str(kind.type), "record": self._found.record}
        registry = self._connected.registry
        if registry is not None and not self._found.takes_lines:
            from tallystick.serde.subjects import Naming

            registered = registry.look_up(str(Naming().subject(self._topic, None)), self._found.definition)
            told |= {"subject": str(registered.subject), "version": registered.version, "id": registered.id}
        else:
            told["version"] = self._producer.schema_version
        return {name: value for name, value in told.items() if value is not None}


def _summary(topic: str, outcome: "Outcome", schema: dict[str, object]) -> Iterator[str]:
    rate = f", {outcome.sent / outcome.seconds:,.0f} messages/s" if outcome.seconds and outcome.sent else ""
    yield f"{_messages(outcome.sent)} sent to {topic} in {outcome.seconds:.2f} s{rate}"
    if outcome.stopped_at is not None:
        # A broker's refusal comes late: what followed was on its way already.
        last = "it" if outcome.stopped_at == outcome.read_to else f"line {outcome.read_to}"
        yield f"stopped at line {outcome.stopped_at}: nothing after {last} was sent"
    elif outcome.failed:
        yield f"{outcome.failed:,} line{'' if outcome.failed == 1 else 's'} left out"
    parts = [" ".join(str(schema[name]) for name in ("type", "record") if name in schema)]
    parts += [f"{name} {schema[name]}" for name in ("subject", "version", "id") if name in schema]
    yield f"schema {', '.join(parts)}"


def _messages(count: int) -> str:
    return f"{count:,} message{'' if count == 1 else 's'}"
