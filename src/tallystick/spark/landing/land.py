"""land: decoded rows into a table, exactly once for each batch of a query."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.landing import appending, delta, iceberg, parquet
from tallystick.spark.landing.counts import Counts, SchemaKey
from tallystick.spark.landing.rows import ORIGIN, fields_of, require_decoded
from tallystick.spark.landing.table import Table, TableFormat
from tallystick.spark.quarantine import quarantine_rows

_LANDING: dict[TableFormat, Callable[..., Counts]] = {
    TableFormat.PARQUET: parquet.land,
    TableFormat.DELTA: partial(appending.land, delta),
    TableFormat.ICEBERG: partial(appending.land, iceberg),
}
_QUERY = re.compile(r"[A-Za-z][\w-]{0,99}", re.ASCII)


def land(
    rows: DataFrame,
    table: Table,
    *,
    query: str,
    batch_id: int,
    schemas: Iterable[SchemaKey] = (),
    keep: bool = False,
    explanation: Explanation | None = None,
) -> Counts:
    """Rows without a finding go to the table, tombstones as rows that say so; the others to the quarantine beside it.

    The same batch of a query again writes nothing twice, and adds what a crash left out. A table that cannot take the
    rows raises `IncompatibleSchema` before anything is written. With `schemas`, those of the batch, it counts by them.
    `keep` holds the rows while they are needed twice, for sources that are slow to read. With an `explanation` the
    quarantine has the codec's reasons.
    """
    require_decoded(rows)
    if rows.isStreaming:
        raise Unsupported("land takes batches; give the stream to land_stream or for_each_decoded_batch")
    if not _QUERY.fullmatch(query):
        raise InvalidArgument("query", f"{query[:60]!r} is no name: use up to 100 letters, digits, _ and -")
    if batch_id < 0:
        raise InvalidArgument("batch_id", f"batches are counted from 0, not {batch_id}")
    _require_columns(rows, table)
    at = datetime.now(UTC)
    as_quarantine = partial(quarantine_rows, query=query, batch_id=batch_id, at=at, explanation=explanation)
    kept = rows.persist(StorageLevel.MEMORY_AND_DISK) if keep else rows
    try:
        return _LANDING[TableFormat(table.format)](kept, table, query, batch_id, as_quarantine, tuple(schemas))
    finally:
        if keep:
            kept.unpersist()


def _require_columns(rows: DataFrame, table: Table) -> None:
    known = {*fields_of(rows).names, *ORIGIN.names}
    for name in table.partition_by:
        if name not in known:
            raise InvalidArgument(
                "partition_by", f"the rows have no column {name!r}; they have {', '.join(sorted(known))}"
            )
