"""Several types of records in one topic of Kafka, by subjects of their names: each type is a DataFrame of its own."""

import json
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from tallystick import AvroSchema, Client
from tallystick.model.naming import KafkaNaming
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoding.each import UNKNOWN, decode_each
from tallystick.spark.kafka import read
from tests.contracts.clusters import Served
from tests.kafka.driving import new_name
from tests.kafka.server import Kafka
from tests.spark.kafka.topics import Put, new_topic, put

ID, NOTE = {"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": "none"}


def record(name: str, *fields: Any) -> AvroSchema[Any]:
    return AvroSchema(json.dumps({"type": "record", "name": name, "fields": fields}))


@pytest.mark.parametrize("naming", [KafkaNaming.RECORD_NAME, KafkaNaming.TOPIC_RECORD_NAME])
def test_each_type_is_read_by_the_latest_schema_of_its_own_subject(
    spark: SparkSession, kafka: Kafka, served: Served, naming: KafkaNaming
) -> None:
    topic, package = new_topic(kafka), new_name("shop").replace("-", "_")
    order, refund = f"{package}.Order", f"{package}.Refund"
    cluster = Cluster(f"kafka://{kafka.servers}", registry=served.confluent, naming=naming)
    sent: list[tuple[AvroSchema[Any], dict[str, Any]]] = [
        (record(order, ID), {"id": 1}),
        (record(refund, {"name": "of", "type": "long"}), {"of": 1}),
        (record(order, ID, NOTE), {"id": 2, "note": "new"}),
    ]
    with Client(cluster.url, registry=served.confluent, naming=naming) as client:
        for schema, value in sent:
            with client.producer(topic, schema) as producer:
                producer.send(value)
    put(kafka, topic, [Put(b"no frame")])
    found = {name: rows.collect() for name, rows in decode_each(read(spark, cluster, topic), cluster).items()}
    assert sorted(found) == sorted([UNKNOWN, order, refund])
    # Both versions of one type are in one DataFrame, and the older one has the default of the newer.
    assert sorted(row.value for row in found[order]) == [Row(id=1, note="none"), Row(id=2, note="new")]
    assert {(row.value.id, row.schema_version) for row in found[order]} == {(1, 1), (2, 2)}
    assert [row.value for row in found[refund]] == [Row(of=1)]
    assert [(row.value, row.finding is None) for row in found[UNKNOWN]] == [(None, False)]
