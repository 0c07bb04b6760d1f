"""Pipelines report home: what a pipeline has to say goes to its registry, and never holds it up."""

import logging
import threading
from types import TracebackType
from typing import Self

from tallystick.errors import TallystickError
from tallystick.model.pipeline import PipelineStatus, pipeline_name
from tallystick.rest import RegistryClient
from tallystick.rest.connection import Retries
from tallystick.spark.cluster import Cluster

log = logging.getLogger("tallystick.spark")

_TIMEOUT_S = 5.0
_HEARTBEAT_S = 20.0
"""How often a pipeline that has nothing new to say says that it is there."""


class StatusReporter:
    """Tells the registry of a cluster, in a thread of its own, the newest status of a pipeline.

    What comes while the registry does not answer is not kept: the next report tells all of it. A cluster without a
    registry is told nothing.
    """

    def __init__(self, cluster: Cluster, pipeline: str, heartbeat_s: float = _HEARTBEAT_S) -> None:
        self._pipeline = pipeline_name(pipeline)
        self._heartbeat_s = heartbeat_s
        self._changed = threading.Condition()
        self._newest: PipelineStatus | None = None
        self._is_new = False
        self._is_closing = False
        self._failed: str | None = None
        self._thread: threading.Thread | None = None
        if cluster.registry is not None:
            self._client = RegistryClient(
                cluster.registry,
                credentials=cluster.registry_credentials,
                timeout_s=_TIMEOUT_S,
                retries=Retries(attempts=1),
            )
            self._thread = threading.Thread(target=self._run, name="tallystick-status", daemon=True)
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tell(self, status: PipelineStatus) -> None:
        """Returns at once."""
        with self._changed:
            self._newest, self._is_new = status, True
            self._changed.notify()

    def close(self) -> None:
        """Tells what has not been told, if the registry answers within some seconds."""
        if self._thread is None:
            return
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(2 * _TIMEOUT_S)
        self._client.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_new or self._is_closing, self._heartbeat_s)
                status, is_last = self._newest, self._is_closing
                if is_last and not self._is_new:
                    return
                self._is_new = False
            if status is not None:
                self._report(status)

    def _report(self, status: PipelineStatus) -> None:
        try:
            self._client.report(self._pipeline, status)
            self._failed = None
        except TallystickError as e:
            # Said once for each reason, not with every report.
            if self._failed != e.code:
                log.warning(
                    "the registry was not told how far the pipeline is",
                    extra={"pipeline": self._pipeline, "reason": e.message},
                )
            self._failed = e.code
