"""The Spark data source `tally`: topics of the embedded broker and of any Pulsar.

Spark starts a process for each step of a query, and each imports this: what only some need is imported where it is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
)
from pyspark.sql.types import StructType

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.spark.columns import FRAMES

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials
    from tallystick.spark.source.options import ReadOptions, WriteOptions

NAME = "tally"


class TallyDataSource(DataSource):
    """Reads and writes the columns of FRAMES. `options.py` has its options.

    It is made in processes that have no session. So that secrets are in no plan and no checkpoint, they travel with
    the class: `register` makes one that knows the credentials of the session's clusters by their URLs.
    """

    accounts: ClassVar["Mapping[str, Credentials]"] = {}

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return FRAMES

    def reader(self, schema: StructType) -> DataSourceReader:
        from tallystick.spark.source.readers import BatchReader

        options = _read_options(self.options, schema)
        return BatchReader(options, self.accounts.get(options.url))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from tallystick.spark.source.readers import StreamReader

        options = _read_options(self.options, schema)
        return StreamReader(options, self.accounts.get(options.url))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        from tallystick.spark.source.writers import BatchWriter

        options = _write_options(self.options, schema, overwrite)
        return BatchWriter(options, self.accounts.get(options.url))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:  # noqa: N802
        from tallystick.spark.source.writers import StreamWriter

        options = _write_options(self.options, schema, overwrite)
        return StreamWriter(options, self.accounts.get(options.url))


def _read_options(options: Mapping[str, str], schema: StructType) -> "ReadOptions":
    from tallystick.spark.source.options import read_options

    if schema.fieldNames() != FRAMES.fieldNames():
        raise InvalidArgument("schema", "the source tally has columns of its own; leave out .schema(…)")
    return read_options(options)


def _write_options(options: Mapping[str, str], schema: StructType, overwrite: bool) -> "WriteOptions":
    from tallystick.spark.source.options import write_options
    from tallystick.spark.source.outgoing import require_columns

    require_columns(schema.fieldNames())
    if overwrite:
        raise Unsupported("topics are appended to; write with mode append")
    return write_options(options)


_known: "dict[str, Credentials]" = {}
"""Of this process, by the URLs of their clusters."""
_REGISTERED = "spark.tallystick.source"
"""How often the credentials had changed when the source was registered. A copy of a session has both."""
_changes = 0


def register(spark: SparkSession, *known: "tuple[str, Credentials | None]") -> None:
    """Makes `format("tally")` known to a session, with the credentials of clusters by their URLs; None forgets them.

    A DataFrame that was made before keeps what was known then.
    """
    global _changes
    for url, credentials in known:
        if _known.get(url) != credentials:
            _known.pop(url, None)
            if credentials is not None:
                _known[url] = credentials
            _changes += 1
    if spark.conf.get(_REGISTERED, None) == str(_changes):
        return
    # A class that is made here is pickled whole, with what it knows; one of a module would be pickled by its name.
    spark.dataSource.register(
        type(TallyDataSource.__name__, (TallyDataSource,), {"accounts": dict(_known), "__module__": "__main__"})
    )
    spark.conf.set(_REGISTERED, str(_changes))
