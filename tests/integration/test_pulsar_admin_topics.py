"""Pulsar's admin REST for tenants, namespaces, topics and subscriptions, around a real Pulsar client."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pulsar
import pytest
import yaml

from tallystick.server.security import hashed
from tests.servers import RunningRegistry, running_registry

QUIET = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: RunningRegistry) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.pulsar_admin, timeout=20) as client:
        yield client


@pytest.fixture(scope="module")
def client(server: RunningRegistry) -> Iterator[pulsar.Client]:
    found = pulsar.Client(server.pulsar, logger=QUIET)
    yield found
    found.close()


def at(topic: str, rest: str = "") -> str:
    return f"/persistent/public/default/{topic}{rest}"


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["reason"]


def send(client: pulsar.Client, topic: str, *texts: str, **options: Any) -> list[pulsar.MessageId]:
    producer = client.create_producer(topic, **{"batching_enabled": False, **options})
    try:
        return [producer.send(text.encode()) for text in texts]
    finally:
        producer.close()


def received(client: pulsar.Client, topic: str, subscription: str, count: int) -> list[str]:
    consumer = client.subscribe(topic, subscription)
    try:
        return [consumer.receive(5000).data().decode() for _ in range(count)]
    finally:
        consumer.close()


def backlog(http: httpx.Client, topic: str, subscription: str) -> int:
    found: int = http.get(at(topic, "/stats")).json()["subscriptions"][subscription]["msgBacklog"]
    return found


# Tenants and namespaces


def test_a_tenant_and_a_namespace_from_birth_to_death(http: httpx.Client) -> None:
    body = {"allowedClusters": ["standalone"], "adminRoles": ["a"]}
    assert http.put("/tenants/acme", json=body).status_code == 204
    assert told(http.put("/tenants/acme", json=body)) == (409, "Tenant already exist")
    assert http.get("/tenants/acme").json() == {"allowedClusters": ["standalone"], "adminRoles": ["a"]}
    assert http.put("/namespaces/acme/sales").status_code == 204
    assert http.get("/namespaces/acme").json() == ["acme/sales"]
    assert told(http.delete("/tenants/acme")) == (409, "The tenant still has active namespaces")
    assert http.put("/persistent/acme/sales/orders").status_code == 204
    assert told(http.delete("/namespaces/acme/sales")) == (409, "Cannot delete non empty namespace")
    assert http.delete("/namespaces/acme/sales?force=true").status_code == 204
    assert told(http.get("/namespaces/acme/sales")) == (404, "Namespace does not exist")
    assert http.delete("/tenants/acme").status_code == 204
    assert "acme" not in http.get("/tenants").json()


def test_the_policies_of_a_new_namespace_stand_in_its_body(http: httpx.Client) -> None:
    retention = {"retentionTimeInMinutes": 5, "retentionSizeInMB": -1}
    body = {"retention_policies": retention, "message_ttl_in_seconds": 9, "deduplicationEnabled": True, "else": 1}
    assert http.put("/namespaces/public/born", json=body).status_code == 204
    about = http.get("/namespaces/public/born").json()
    assert about["retention_policies"] == retention
    assert (about["message_ttl_in_seconds"], about["deduplicationEnabled"]) == (9, True)
    assert http.get("/namespaces/public/born/messageTTL").json() == 9
    http.delete("/namespaces/public/born/messageTTL")
    assert http.get("/namespaces/public/born/messageTTL").text == ""
    http.put("/persistent/public/born/t")
    applied = http.get("/persistent/public/born/t/retention?applied=true").json()
    assert applied == retention
    assert http.get("/persistent/public/born/t/retention").text == ""


def test_a_namespace_outlives_a_restart(tmp_path: Path) -> None:
    with running_registry(tmp_path, broker=True) as running, httpx.Client(base_url=running.pulsar_admin) as http:
        http.put("/namespaces/public/kept", json={"message_ttl_in_seconds": 7})
        http.put("/persistent/public/kept/t", json={"k": "v"})
        http.post("/persistent/public/kept/t/retention", json={"retentionTimeInMinutes": 3, "retentionSizeInMB": 4})
        http.put("/persistent/public/kept/t/properties", json={"k2": "v2"})
    with running_registry(tmp_path, broker=True) as running, httpx.Client(base_url=running.pulsar_admin) as http:
        assert http.get("/namespaces/public/kept/messageTTL").json() == 7
        assert http.get("/persistent/public/kept/t/properties").json() == {"k": "v", "k2": "v2"}
        kept = http.get("/persistent/public/kept/t/retention").json()
        assert kept == {"retentionTimeInMinutes": 3, "retentionSizeInMB": 4}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"retentionTimeInMinutes": 0, "retentionSizeInMB": 5}, 400),
        ({"retentionTimeInMinutes": -2, "retentionSizeInMB": 5}, 412),
        ({"retentionTimeInMinutes": True, "retentionSizeInMB": 5}, 400),
        ([], 400),
    ],
)
def test_a_retention_that_is_none_is_refused(http: httpx.Client, body: object, status: int) -> None:
    assert http.post("/namespaces/public/default/retention", json=body).status_code == status


# Topics


def test_topics_are_made_listed_and_deleted(http: httpx.Client) -> None:
    http.put("/namespaces/public/listed")
    base = "/persistent/public/listed"
    assert http.put(f"{base}/a").status_code == 204
    assert told(http.put(f"{base}/a")) == (409, "This topic already exists")
    assert http.put(f"{base}/p/partitions", content="2").status_code == 204
    name = "persistent://public/listed"
    assert http.get(base).json() == [f"{name}/a", f"{name}/p-partition-0", f"{name}/p-partition-1"]
    assert http.get("/namespaces/public/listed/topics").json() == http.get(base).json()
    assert http.get(f"{base}/partitioned").json() == [f"{name}/p"]
    assert http.get(f"{base}/p/partitions").json() == {"partitions": 2, "deleted": False}
    assert http.post(f"{base}/p/partitions", content="3").status_code == 204
    assert http.get(f"{base}/p/partitions").json()["partitions"] == 3
    assert http.post(f"{base}/p/partitions", content="1").status_code == 422
    assert http.delete(f"{base}/p").status_code == 409
    assert http.delete(f"{base}/p/partitions").status_code == 204
    assert http.delete(f"{base}/a").status_code == 204
    assert told(http.delete(f"{base}/a")) == (404, f"Topic {name}/a not found")
    assert http.get(base).json() == []


def test_a_topic_in_use_is_deleted_by_force_only(http: httpx.Client, client: pulsar.Client) -> None:
    consumer = client.subscribe("used", "s")
    refused = http.delete(at("used"))
    assert refused.status_code == 412
    assert "force" in refused.json()["reason"]
    assert told(http.delete(at("used", "/subscription/s"))) == (412, "Subscription has active connected consumers")
    consumer.close()
    assert http.delete(at("used")).status_code == 204


def test_stats_tell_of_clients_and_messages(http: httpx.Client, client: pulsar.Client) -> None:
    producer = client.create_producer("told", producer_name="teller", batching_enabled=False)
    consumer = client.subscribe("told", "s", consumer_type=pulsar.ConsumerType.Shared, consumer_name="listener")
    for text in ("a", "b", "c"):
        producer.send(text.encode())
    consumer.acknowledge(consumer.receive(5000))
    for _ in range(2):
        consumer.receive(5000)
    time.sleep(0.3)
    stats = http.get(at("told", "/stats")).json()
    assert (stats["msgInCounter"], stats["msgOutCounter"], stats["deduplicationStatus"]) == (3, 3, "Disabled")
    assert stats["storageSize"] == stats["bytesInCounter"] > 0
    assert [publisher["producerName"] for publisher in stats["publishers"]] == ["teller"]
    found = stats["subscriptions"]["s"]
    assert (found["type"], found["msgBacklog"], found["unackedMessages"]) == ("Shared", 2, 2)
    assert [each["consumerName"] for each in found["consumers"]] == ["listener"]
    internal = http.get(at("told", "/internalStats")).json()
    ledger = internal["ledgers"][0]["ledgerId"]
    assert internal["lastConfirmedEntry"] == f"{ledger}:2"
    assert internal["cursors"]["s"]["markDeletePosition"] == f"{ledger}:0"
    last = http.get(at("told", "/lastMessageId")).json()
    assert (last["ledgerId"], last["entryId"], last["partitionIndex"]) == (ledger, 2, -1)
    producer.close()
    consumer.close()


def test_stats_of_partitions_are_summed(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("summed", "/partitions"), content="2")
    http.put(at("summed", "/subscription/s"), json="earliest")
    send(client, "summed", *"abcdef")
    stats = http.get(at("summed", "/partitioned-stats")).json()
    assert (stats["msgInCounter"], stats["subscriptions"]["s"]["msgBacklog"]) == (6, 6)
    parts = [part["msgInCounter"] for part in stats["partitions"].values()]
    assert (len(parts), sum(parts), min(parts) > 0) == (2, 6, True)


def test_clients_come_back_after_an_unload(http: httpx.Client, client: pulsar.Client) -> None:
    consumer = client.subscribe("unloaded", "s")
    producer = client.create_producer("unloaded")
    assert http.put(at("unloaded", "/unload")).status_code == 204
    producer.send(b"after")
    assert consumer.receive(10_000).data() == b"after"
    producer.close()
    consumer.close()


def test_deduplication_counts_at_once(http: httpx.Client, client: pulsar.Client) -> None:
    producer = client.create_producer("twice", producer_name="p", batching_enabled=False)
    assert http.post(at("twice", "/deduplicationEnabled"), json=True).status_code == 204
    for sequence in (5, 5, 6):
        producer.send(b"x", sequence_id=sequence)
    producer.close()
    assert http.get(at("twice", "/stats")).json()["msgInCounter"] == 2


# Subscriptions


def test_a_subscription_is_made_at_either_end(http: httpx.Client, client: pulsar.Client) -> None:
    send(client, "ends", "a", "b")
    assert http.put(at("ends", "/subscription/all"), json="earliest").status_code == 204
    assert http.put(at("ends", "/subscription/new")).status_code == 204
    assert told(http.put(at("ends", "/subscription/new"))) == (409, "Subscription already exists for topic")
    assert http.get(at("ends", "/subscriptions")).json() == ["all", "new"]
    assert [backlog(http, "ends", name) for name in ("all", "new")] == [2, 0]
    assert received(client, "ends", "all", 2) == ["a", "b"]


def test_messages_are_skipped_and_played_again(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("moved", "/subscription/s"), json="earliest")
    first, _, third = send(client, "moved", "a", "b", "c")
    assert http.post(at("moved", "/subscription/s/skip/2")).status_code == 204
    assert received(client, "moved", "s", 1) == ["c"]
    assert http.post(at("moved", "/subscription/s/resetcursor/0")).status_code == 204
    assert backlog(http, "moved", "s") == 3
    to = {"ledgerId": first.ledger_id(), "entryId": first.entry_id(), "partitionIndex": -1, "isExcluded": True}
    assert http.post(at("moved", "/subscription/s/resetcursor"), json=to).status_code == 204
    assert received(client, "moved", "s", 2) == ["b", "c"]
    assert http.post(at("moved", "/subscription/s/skip_all")).status_code == 204
    assert backlog(http, "moved", "s") == 0
    assert third.entry_id() == 2


def test_a_reset_reaches_a_consumer_that_is_there(http: httpx.Client, client: pulsar.Client) -> None:
    send(client, "again", "a", "b")
    consumer = client.subscribe("again", "s", initial_position=pulsar.InitialPosition.Earliest)
    for _ in range(2):
        consumer.acknowledge(consumer.receive(5000))
    assert http.post(at("again", "/subscription/s/resetcursor/0")).status_code == 204
    assert [consumer.receive(10_000).data() for _ in range(2)] == [b"a", b"b"]
    consumer.close()


def test_skipping_more_than_there_is_skips_all(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("far", "/subscription/s"), json="earliest")
    send(client, "far", "a")
    assert http.post(at("far", f"/subscription/s/skip/{2**62}")).status_code == 204
    assert backlog(http, "far", "s") == 0


def test_old_messages_are_expired(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("old", "/subscription/s"), json="earliest")
    send(client, "old", "a")
    assert http.post(at("old", "/subscription/s/expireMessages/1000")).status_code == 409
    time.sleep(1.1)
    send(client, "old", "b")
    assert http.post(at("old", "/subscription/s/expireMessages/1")).status_code == 204
    assert received(client, "old", "s", 1) == ["b"]
    assert http.post(at("old", "/all_subscription/expireMessages/0")).status_code == 204
    assert backlog(http, "old", "s") == 0


def test_a_subscription_of_a_partitioned_topic_is_on_every_partition(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("spread", "/partitions"), content="2")
    http.put(at("spread", "/subscription/s"), json="earliest")
    send(client, "spread", *"abcd")
    assert http.get(at("spread-partition-1", "/subscriptions")).json() == ["s"]
    assert http.post(at("spread", "/subscription/s/skip/1")).status_code == 405
    assert http.post(at("spread", "/subscription/s/skip_all")).status_code == 204
    assert backlog(http, "spread-partition-0", "s") == 0
    assert http.post(at("spread", "/subscription/s/resetcursor/0")).status_code == 204
    assert http.get(at("spread", "/partitioned-stats")).json()["subscriptions"]["s"]["msgBacklog"] == 4
    assert http.delete(at("spread", "/subscription/s")).status_code == 204
    assert http.get(at("spread", "/subscriptions")).json() == []


def test_messages_can_be_looked_at(http: httpx.Client, client: pulsar.Client) -> None:
    http.put(at("seen", "/subscription/s"), json="earliest")
    producer = client.create_producer("seen", compression_type=pulsar.CompressionType.ZLib, batching_enabled=False)
    producer.send(b"first")
    producer.send("zwölf".encode(), properties={"k": "v ü"}, partition_key="key", event_timestamp=1_700_000_000_000)
    producer.close()
    peeked = http.get(at("seen", "/subscription/s/position/2"))
    assert (peeked.status_code, peeked.content.decode()) == (200, "zwölf")
    assert peeked.headers["x-pulsar-message-id"].endswith(":1")
    assert json.loads(peeked.headers["x-pulsar-property"]) == {"k": "v ü"}
    assert peeked.headers["x-pulsar-partition-key"] == "key"
    assert peeked.headers["x-pulsar-event-time"] == "2023-11-14T22:13:20.000Z"
    assert told(http.get(at("seen", "/subscription/s/position/3"))) == (404, "Message not found")
    assert http.get(at("seen", "/examinemessage?initialPosition=earliest&messagePosition=1")).content == b"first"
    assert http.get(at("seen", "/examinemessage?initialPosition=latest&messagePosition=1")).content == "zwölf".encode()
    assert backlog(http, "seen", "s") == 2


def test_a_subscription_has_properties(http: httpx.Client) -> None:
    body = {"ledgerId": -1, "entryId": -1, "properties": {"a": "b"}}
    http.put(at("described", "/subscription/s"), json=body)
    assert http.get(at("described", "/subscription/s/properties")).json() == {"a": "b"}
    assert http.put(at("described", "/subscription/s/properties"), json={"c": "d"}).status_code == 204
    assert http.get(at("described", "/subscription/s/properties")).json() == {"c": "d"}


# Around them


def test_clients_with_an_http_url_find_the_broker(server: RunningRegistry, http: httpx.Client) -> None:
    http.put(at("looked-up", "/partitions"), content="2")
    client = pulsar.Client(server.http, logger=QUIET)
    try:
        consumer = client.subscribe("looked-up", "s")
        producer = client.create_producer("looked-up")
        producer.send(b"found")
        assert consumer.receive(5000).data() == b"found"
    finally:
        client.close()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", at("x", "/compaction")),
        ("POST", at("x", "/terminate")),
        ("PUT", "/non-persistent/public/default/x"),
        ("POST", "/namespaces/public/default/permissions/somebody"),
        ("POST", "/namespaces/public/default/backlogQuota"),
        ("POST", at("x", "/maxProducers")),
    ],
)
def test_what_is_not_offered_says_so(http: httpx.Client, method: str, path: str) -> None:
    answer = http.request(method, path, content="{}")
    assert answer.status_code == 405
    assert "here" in answer.json()["reason"]


def test_changes_are_in_the_journal(server: RunningRegistry, http: httpx.Client) -> None:
    http.put("/namespaces/public/audited")
    http.put("/persistent/public/audited/t")
    http.put("/persistent/public/audited/t/subscription/s")
    http.post("/persistent/public/audited/t/subscription/s/resetcursor/0")
    http.post("/persistent/public/audited/t/messageTTL?messageTTL=60")
    http.delete("/persistent/public/audited/t?force=true")
    entries = server.registry.read(lambda tx: tx.journal.after(0, 10_000))
    mine = [e for e in entries if "public/audited" in str(e.data)]
    assert [e.kind for e in mine] == [
        "namespace.created",
        "topic.created",
        "subscription.created",
        "subscription.reset",
        "policy.changed",
        "topic.deleted",
    ]
    assert {e.principal for e in mine} == {"anybody"}
    assert str(mine[1].subject) == ":.audited:t"


def test_metrics_tell_of_topics_and_subscriptions(
    server: RunningRegistry, http: httpx.Client, client: pulsar.Client
) -> None:
    http.put(at("measured", "/subscription/s"), json="earliest")
    send(client, "measured", "a", "b")
    text = httpx.get(f"{server.http}/metrics").text
    series = dict(line.rpartition(" ")[::2] for line in text.splitlines() if not line.startswith("#"))
    topic = 'topic="persistent://public/default/measured"'
    assert series[f'tallystick_broker_messages_in_total{{namespace="public/default",{topic}}}'] == "2.0"
    assert series[f'tallystick_broker_backlog{{namespace="public/default",subscription="s",{topic}}}'] == "2.0"
    by_schema = f'tallystick_broker_messages_by_schema_total{{namespace="public/default",{topic},version=""}}'
    assert series[by_schema] == "2.0"


def test_without_a_broker_there_are_schemas_and_no_topics(tmp_path: Path) -> None:
    with running_registry(tmp_path) as running, httpx.Client(base_url=running.pulsar_admin) as http:
        for path in ("/tenants", "/namespaces/public", at("x", "/stats"), at("x", "/subscriptions"), "/brokers/health"):
            status, reason = told(http.get(path))
            assert (status, "--no-broker" in reason) == (501, True)
        body = {"type": "STRING", "schema": "", "properties": {}}
        assert http.post("/schemas/public/default/x/schema", json=body).status_code == 200


def test_roles_count(tmp_path: Path) -> None:
    roles = {
        "admin": [{"role": "administer"}],
        "reader": [{"role": "read", "on": "seen-*"}],
        "consumer": [{"role": "consume", "on": "seen-*"}],
    }
    users = {name: {"password": hashed(name), "roles": granted} for name, granted in roles.items()}
    file = tmp_path / "users.yaml"
    file.write_text(yaml.safe_dump({"users": users}))
    with running_registry(tmp_path / "data", security=file, broker=True) as running:
        asking = {name: httpx.Client(base_url=running.pulsar_admin, auth=(name, name), timeout=20) for name in roles}
        admin, reader, consumer = asking["admin"], asking["reader"], asking["consumer"]
        assert httpx.get(f"{running.pulsar_admin}/tenants").status_code == 401
        for topic in ("seen-1", "hidden"):
            assert admin.put(at(topic)).status_code == 204
        assert reader.get("/persistent/public/default").json() == ["persistent://public/default/seen-1"]
        assert [reader.get(at(topic, "/stats")).status_code for topic in ("seen-1", "hidden")] == [200, 403]
        for refused in (
            reader.put(at("seen-2")),
            reader.delete(at("seen-1")),
            reader.put("/tenants/t", json={"allowedClusters": ["standalone"]}),
            reader.put("/namespaces/public/n"),
            reader.put(at("seen-1", "/subscription/s")),
            reader.post(at("seen-1", "/messageTTL?messageTTL=1")),
            reader.get(at("seen-1", "/examinemessage")),
            consumer.delete(at("seen-1")),
            consumer.put(at("hidden", "/subscription/s")),
        ):
            assert refused.status_code == 403, refused.request.url
        assert consumer.put(at("seen-1", "/subscription/s")).status_code == 204
        assert consumer.post(at("seen-1", "/subscription/s/skip_all")).status_code == 204
        for each in asking.values():
            each.close()
