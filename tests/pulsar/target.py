"""A server under comparison, and what cases ask of it."""

import itertools
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import httpx
import pulsar

from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.pulsar.raw import Raw

Outcomes = Iterator[tuple[str, Any]]
"""Steps of a case with what the server answered, free of names and numbers that differ from server to server."""

Case = Callable[["Target"], Outcomes]

_POLICIES_BY_PUT = {"schemaCompatibilityStrategy"}


@dataclass(frozen=True)
class Target:
    """Everything that a case creates has names of its own, so cases may share a server, and so may runs."""

    service_url: str
    admin_url: str
    prefix: str = field(default_factory=lambda: f"x{secrets.token_hex(3)}")
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=30, verify=False))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def fresh(self, kind: str = "n") -> str:
        return f"{self.prefix}-{kind}{next(self._numbers)}"

    def namespace(self, **policies: Any) -> str:
        """A new namespace of tenant `public`, with these of Pulsar's policies by their REST names."""
        name = f"public/{self.fresh('ns')}"
        self.ask("PUT", f"/namespaces/{name}", expect=204)
        for policy, value in policies.items():
            method = "PUT" if policy in _POLICIES_BY_PUT else "POST"
            self.ask(method, f"/namespaces/{name}/{policy}", value, expect=204)
        return name

    def topic(self, namespace: str = "public/default", partitions: int | None = None) -> str:
        """A new topic's full name; it exists, and its namespace is loaded."""
        name = f"{namespace}/{self.fresh('t')}"
        if partitions is None:
            self.ask("PUT", f"/persistent/{name}", expect=204)
        else:
            self.ask("PUT", f"/persistent/{name}/partitions", partitions, expect=204)
        topic = f"persistent://{name}"
        with self.raw() as raw:
            for one in [topic] if partitions is None else [f"{topic}-partition-{i}" for i in range(partitions)]:
                raw.request("LOOKUP", api.CommandLookupTopic(topic=one, request_id=0))
        return topic

    def ask(self, method: str, path: str, body: Any = None, *, expect: int | None = None) -> httpx.Response:
        """One request to the admin REST; `path` begins after /admin/v2."""
        headers, content = ({}, None) if body is None else ({"Content-Type": "application/json"}, json.dumps(body))
        answer = self._http.request(method, f"{self.admin_url}/admin/v2{path}", content=content, headers=headers)
        assert expect is None or answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer

    @contextmanager
    def raw(self, **options: Any) -> Iterator[Raw]:
        raw = Raw(self.service_url, **options)
        try:
            yield raw
        finally:
            raw.close()

    @contextmanager
    def client(self, **options: Any) -> Iterator[pulsar.Client]:
        quiet = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
        client = pulsar.Client(self.service_url, logger=quiet, operation_timeout_seconds=15, **options)
        try:
            yield client
        finally:
            client.close()


def path_of(topic: str) -> str:
    """A topic's path in the admin REST: /persistent/tenant/namespace/local."""
    return "/" + topic.replace("://", "/")


def run(case: Case, service_url: str, admin_url: str) -> dict[str, Any]:
    with Target(service_url, admin_url) as target:
        outcomes: dict[str, Any] = {}
        try:
            for step, outcome in case(target):
                assert step not in outcomes, f"two steps are called {step!r}"
                outcomes[step] = _without_names(outcome, target)
        except (AssertionError, KeyError, OSError, pulsar.PulsarException, httpx.HTTPError) as error:
            # What the other server answers to this step is worth seeing next to it.
            outcomes["broke off"] = f"{type(error).__name__}: {error}"
        return outcomes


def _without_names(outcome: Any, target: Target) -> Any:
    text = json.dumps(outcome)
    for name, stands_for in ((target.prefix, "X"), (target.service_url, "SERVICE"), (target.admin_url, "ADMIN")):
        text = text.replace(name, stands_for)
    return json.loads(text)
