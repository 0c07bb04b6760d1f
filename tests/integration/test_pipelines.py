"""What pipelines say of themselves, over HTTP, by the client, and in the metrics."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tallystick import Credentials, RegistryClient
from tallystick.errors import Forbidden, InvalidArgument, NotFound, Unsupported
from tallystick.model.pipeline import Outcomes, PipelineState, PipelineStatus
from tallystick.server.security import hashed
from tests.integration.servers import Served, client, serving
from tests.unit.rest.scripted import Reply, running_script

STATUS = PipelineStatus(
    state=PipelineState.RUNNING,
    records=Outcomes(90, 9, 1),
    by_schema={"orders v1": Outcomes(90, 9, 1)},
    batch=4,
    lag=11,
    rate=1000.0,
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("data"), "--log-level=error", "--no-broker") as served:
        yield served


@pytest.mark.parametrize("place", ["", "/confluent", "/admin/v2"])
def test_a_status_comes_back_as_it_was_told(served: Served, place: str) -> None:
    with RegistryClient(served.url + place) as registry:
        registry.report("lands", STATUS)
        kept = registry.pipeline("lands")
        assert (kept.status, kept.principal) == (STATUS, "anybody")
        assert [found.name for found in registry.pipelines()] == ["lands"]
        registry.forget_pipeline("lands")
        assert registry.pipelines() == []
        for missing in (registry.pipeline, registry.forget_pipeline):
            with pytest.raises(NotFound, match="no pipeline 'lands'"):
                missing("lands")


def test_the_newest_status_counts_and_is_in_the_metrics(served: Served) -> None:
    with RegistryClient(served.confluent_url) as registry, client(served) as http:
        registry.report("counted", PipelineStatus(state=PipelineState.WAITING))
        registry.report("counted", STATUS)
        text = http.get("/metrics").text
        registry.forget_pipeline("counted")
        assert "counted" not in http.get("/metrics").text
    assert 'tallystick_pipeline_records_total{outcome="good",pipeline="counted",schema="orders v1"} 90.0' in text
    assert 'tallystick_pipeline_lag_records{pipeline="counted"} 11.0' in text
    assert 'tallystick_pipeline_state{pipeline="counted",state="running"} 1.0' in text
    assert 'tallystick_pipeline_state{pipeline="counted",state="waiting"} 0.0' in text


def test_what_is_no_status_is_refused(served: Served) -> None:
    with client(served) as http:
        refused = http.put("/pipelines/p/status", json={"state": "dancing"})
        large = http.put("/pipelines/p/status", json={"state": "running", "details": {"x": "x" * 300_000}})
        assert http.get("/pipelines").json() == {"pipelines": []}
    assert refused.status_code == large.status_code == 422
    assert "state is one of" in refused.json()["message"]
    assert "bytes" in large.json()["message"]
    with RegistryClient(served.url) as registry, pytest.raises(InvalidArgument, match="is no name"):
        registry.report("a/b", STATUS)


def test_a_forgotten_pipeline_is_in_the_audit_log_and_reports_are_not(served: Served) -> None:
    with RegistryClient(served.url) as registry:
        registry.report("audited", STATUS)
        registry.forget_pipeline("audited")
        (entry,) = [e for e in registry.audit() if e.data.get("pipeline") == "audited"]
    assert entry.kind == "pipeline.forgotten"


def test_a_registry_of_others_keeps_no_status() -> None:
    with running_script() as script, RegistryClient(script.url, "confluent") as registry:
        script.replies = [Reply(404, {"error_code": 404, "message": "HTTP 404 Not Found"})] * 2
        with pytest.raises(Unsupported, match="keeps no status"):
            registry.report("p", STATUS)
        with pytest.raises(Unsupported, match="keeps no status"):
            registry.pipelines()


def test_pipelines_have_roles_of_their_own(tmp_path: Path) -> None:
    roles = {
        "reporter": [{"role": "register", "on": "pipelines/own-*"}],
        "reader": [{"role": "read"}],
        "topics": [{"role": "administer", "on": "own-*"}],
        "keeper": [{"role": "configure"}],
    }
    accounts = {name: {"password": hashed(name), "roles": granted} for name, granted in roles.items()}
    file = tmp_path / "accounts.yaml"
    file.write_text(yaml.safe_dump({"users": json.loads(json.dumps(accounts))}))
    with serving(tmp_path / "data", f"--security={file}", "--no-broker") as served:
        assert httpx.get(f"{served.url}/pipelines").status_code == 401

        def to(name: str) -> RegistryClient:
            return RegistryClient(served.url, credentials=Credentials(username=name, password=name))

        with to("reporter") as reporter, to("reader") as reader, to("topics") as topics, to("keeper") as keeper:
            reporter.report("own-a", STATUS)
            keeper.report("other", STATUS)
            assert [found.name for found in reader.pipelines()] == ["other", "own-a"]
            assert [found.name for found in reporter.pipelines()] == ["own-a"]
            assert topics.pipelines() == []
            for somebody, pipeline in ((reporter, "other"), (reader, "own-a"), (topics, "own-a")):
                with pytest.raises(Forbidden, match=f"pipelines/{pipeline}"):
                    somebody.report(pipeline, STATUS)
            with pytest.raises(Forbidden):
                reporter.forget_pipeline("own-a")
            keeper.forget_pipeline("own-a")
