"""Pipeline: a whole file as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from tallystick.pipeline.clusters import Cluster
from tallystick.pipeline.steps import Function, Landing, Replication, Route, Source, Step, Transform

S = TypeVar("S", bound=Step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    name: str
    file: str | None
    """None where a text was loaded."""
    state: str
    """The folder of all checkpoints, whole; or a URL of a file system that Spark knows."""
    clusters: Mapping[str, Cluster] = field(hash=False)
    steps: tuple[Step, ...]
    """In the order of the file, section by section."""
    description: str | None = None

    @property
    def routes(self) -> tuple[Route, ...]:
        return self._of(Route)

    @property
    def transforms(self) -> tuple[Transform, ...]:
        return self._of(Transform)

    @property
    def functions(self) -> tuple[Function, ...]:
        return self._of(Function)

    @property
    def sources(self) -> tuple[Source, ...]:
        return self._of(Source)

    @property
    def replications(self) -> tuple[Replication, ...]:
        return self._of(Replication)

    @property
    def landings(self) -> tuple[Landing, ...]:
        return self._of(Landing)

    def step(self, name: str) -> Step | None:
        return next((step for step in self.steps if step.name == name), None)

    def checkpoint(self, step: Step, *query: str) -> str:
        """The folder of a step's query; a step that has several names each, such as `ingress`."""
        return "/".join((self.state.rstrip("/"), step.name, *query))

    def _of(self, kind: type[S]) -> tuple[S, ...]:
        return tuple(step for step in self.steps if isinstance(step, kind))
