"""`tally sql`: topics as tables."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from tallystick.cli.data_options import since_option, since_time, spark_options, spark_settings
from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import DONE
from tallystick.cli.spark_session import spark_session
from tallystick.cli.topic_cluster import ClusterOptions, cluster_command

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tallystick.spark.sql import TopicTables

EXIT_CODES = (
    "Exit codes: 0 done, 1 refused or not there, 2 bad input or a query that fails, 3 out of reach, 70 internal error."
)
OUTPUTS = ("text", "table", "json", "yaml", "parquet")
SHOWN = 100
"""Rows of a table for people, unless they ask for another number."""


@click.command(epilog=EXIT_CODES)
@click.argument("query")
@click.option(
    "--from",
    "named",
    multiple=True,
    metavar="TOPIC[=NAME]",
    help="A topic under another name. Names in the query that are not given here are those of topics.",
)
@since_option
@click.option(
    "--reader",
    "readers",
    multiple=True,
    metavar="[TOPIC=]VERSION",
    help="The version of the topic's schema to read by; by default the latest.",
)
@click.option("--limit", type=click.IntRange(1), help=f"So many rows at most. As text {SHOWN} unless it is said.")
@click.option("--to", "target", metavar="PATH", help="Parquet: the folder to write, which must not be there yet.")
@click.option("--findings", is_flag=True, help="Show the records that do not fit, too, on standard error.")
@spark_options
@partial(cluster_command, outputs=OUTPUTS)
def sql(
    cluster: ClusterOptions,
    query: str,
    named: tuple[str, ...],
    since: str | None,
    readers: tuple[str, ...],
    limit: int | None,
    target: str | None,
    findings: bool,
    master: str,
    conf: tuple[str, ...],
    output: str,
    colour: str,
) -> int:
    """Ask the records of topics by QUERY, in Spark's SQL.

    The fields of a topic's values are columns, read by the topic's latest schema whichever version a record has.
    Behind them stand _topic, _partition, _position, _schema_version, _publish_time and _key. Records that do not fit
    are left out, and counted on standard error; the table NAME__quarantine has them. With --output json each row is
    one line, with yaml one document.

    \b
    tally sql "select customer, sum(total) from orders group by customer"
    tally sql "select rule, count(*) from orders__quarantine group by rule"
    tally sql "select * from o join `eu/shop/returns` r on o.id = r.id" --from orders=o --output json
    tally sql "select * from orders" --since 7d --output parquet --to week.parquet

    It needs Spark: pip install 'tallystick[spark]', and Java 17 or newer.
    """
    _require_target(output, target)
    topics = [_topic_and_name(text) for text in named]
    start = since_time(since)
    versions = dict(map(_version, readers))
    settings = spark_settings(conf)
    where = cluster.for_spark()
    with spark_session(where, master, settings) as spark:
        from tallystick.spark.sql import TopicTables

        with TopicTables(spark, where, start, versions) as tables:
            for topic, name in topics:
                tables.add(topic, name)
            _answer(spark, tables, query, output, limit, target, colour)
            _tell_misfits(spark, tables, findings, colour)
    return DONE


def _require_target(output: str, target: str | None) -> None:
    if output == "parquet" and target is None:
        raise unusable("where is the Parquet to be written?", fix="give --to PATH")
    if output != "parquet" and target is not None:
        raise unusable("--to is for Parquet", fix="give --output parquet, or send standard output to a file")


def _topic_and_name(text: str) -> tuple[str, str | None]:
    topic, separator, name = text.rpartition("=")
    return (topic, name) if separator and topic and name else (text, None)


def _version(text: str) -> tuple[str | None, int]:
    topic, separator, number = text.rpartition("=")
    if not number.isdecimal() or int(number) < 1 or (separator and not topic):
        raise unusable(f"--reader {text}: versions are 1, 2, 3 …", fix="write VERSION or TOPIC=VERSION")
    return topic or None, int(number)


def _answer(
    spark: "SparkSession",
    tables: "TopicTables",
    query: str,
    output: str,
    limit: int | None,
    target: str | None,
    colour: str,
) -> None:
    from tallystick.cli import sql_rows
    from tallystick.cli.spark_progress import watched
    from tallystick.spark.failures import SPARK_ERRORS, failure_of

    with watched(spark):
        result = tables.run(query)
    try:
        if output == "parquet":
            assert target is not None
            with watched(spark):
                sql_rows.save(result if limit is None else result.limit(limit), target)
        elif output in ("json", "yaml"):
            # What is shown as it comes would be torn by a bar.
            with watched(spark, is_wanted=not sys.stdout.isatty()):
                sql_rows.stream(result if limit is None else result.limit(limit), output)
        else:
            _show(spark, result, limit, colour)
    except SPARK_ERRORS as e:
        raise failure_of(e) from e


def _show(spark: "SparkSession", result: "DataFrame", limit: int | None, colour: str) -> None:
    from tallystick.cli import sql_rows
    from tallystick.cli.spark_progress import watched

    most = limit or SHOWN
    with watched(spark):
        rows = sql_rows.taken(result, most + 1)
    sql_rows.show_table(result.columns, rows[:most], colour, sys.stdout)
    if limit is None and len(rows) > most:
        click.echo(f"the first {most} rows; --limit shows more, --output json all", err=True)


def _tell_misfits(spark: "SparkSession", tables: "TopicTables", findings: bool, colour: str) -> None:
    from tallystick.cli import sql_rows
    from tallystick.cli.spark_progress import watched
    from tallystick.spark.sql import QUARANTINE

    for table in tables.tables.values():
        with watched(spark):
            count = table.misfits()
        if not count:
            continue
        records = "1 record does" if count == 1 else f"{count:,} records do"
        see = "" if findings else f"; --findings shows them, and so does the table {table.name}{QUARANTINE}"
        click.echo(f"{table.name}: {records} not fit and {_are(count)} left out{see}", err=True)
        if findings:
            with watched(spark):
                shown = table.quarantine().select(*_FINDING_COLUMNS)
                rows = sql_rows.taken(shown, SHOWN)
            sql_rows.show_table(shown.columns, rows, colour, sys.stderr)


_FINDING_COLUMNS: Sequence[str] = ("_partition", "_position", "_schema_version", "rule", "message")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
