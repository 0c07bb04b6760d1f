"""Headers of Kafka's records as properties, and back."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from tallystick.spark.columns import PROPERTIES, REPLICATED_FROM
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER

_OURS = (REPLICATED_FROM, KEY_HEADER, VALUE_HEADER)
_HEADERS = "array<struct<key:string,value:binary>>"
_PROPERTIES = "map<string,string>"


def first(headers: Column, name: str) -> Column:
    """As our client and Confluent's serializers take schema ids."""
    return F.try_element_at(F.filter(headers, lambda header: header["key"] == name), F.lit(1))["value"]


def replicated_from(headers: Column) -> Column:
    found = F.filter(headers, lambda header: header["key"] == REPLICATED_FROM)
    last = F.try_element_at(found, F.lit(-1))
    name = F.make_valid_utf8(F.coalesce(last["value"], F.lit(b"")).cast("string"))
    return F.when(last.isNotNull(), name)


def properties(headers: Column) -> Column:
    """All that are text, but for our own: the others are left out, as our client does. The last of a name counts."""
    texts = F.filter(
        headers,
        lambda header: (
            ~header["key"].isin(*_OURS) & F.is_valid_utf8(F.coalesce(header["value"], F.lit(b"")).cast("string"))
        ),
    )
    # Not left to `map_from_entries`, which fails on names that come twice unless the session says otherwise.
    backwards = F.reverse(F.transform(texts, lambda header: header["key"]))
    last = F.filter(
        texts, lambda header, i: F.array_position(backwards, header["key"]) == (F.size(texts) - i).cast("long")
    )
    entries = F.transform(
        last, lambda header: F.struct(header["key"], F.coalesce(header["value"], F.lit(b"")).cast("string"))
    )
    none = F.create_map().cast(_PROPERTIES)
    return F.when(headers.isNull(), none).otherwise(F.map_from_entries(entries)).cast(_PROPERTIES)


def headers_of(value_header: Column, key_header: Column) -> Column:
    """Of the columns of FRAMES: properties, then the ids of schemas, then where a record came from. Null for none."""
    named = F.transform(
        F.filter(F.map_entries(F.col(PROPERTIES)), lambda entry: ~entry["key"].isin(*_OURS)),
        lambda entry: F.struct(entry["key"].alias("key"), entry["value"].cast("binary").alias("value")),
    ).cast(_HEADERS)
    ours = ((KEY_HEADER, key_header), (VALUE_HEADER, value_header), (REPLICATED_FROM, F.col(REPLICATED_FROM)))
    none = F.array().cast(_HEADERS)
    parts = [
        F.when(value.isNotNull(), F.array(F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))))
        for name, value in ours
    ]
    together = F.concat(F.coalesce(named, none), *(F.coalesce(part.cast(_HEADERS), none) for part in parts))
    return F.when(F.size(together) > 0, together)
