"""What pipelines last said of themselves. Reports come often and change nothing: the journal does not tell of them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from tallystick.access import Action, Caller, is_allowed, require
from tallystick.errors import NotFound
from tallystick.model.pipeline import PipelineStatus, pipeline_name
from tallystick.registry.ports import PipelineRow, Transaction
from tallystick.registry.service import Registry, record


def resource(name: str) -> str:
    """What a role on a pipeline is granted on: topics and subjects are not called so."""
    return f"pipelines/{name}"


def report(registry: Registry, caller: Caller, name: str, status: PipelineStatus) -> PipelineRow:
    """The new status takes the place of the last one."""
    require(caller, Action.REGISTER, resource(pipeline_name(name)))
    row = PipelineRow(name, status, caller.principal.name, datetime.now(UTC))
    registry.change(lambda tx: tx.pipelines.put(row))
    return row


def status(registry: Registry, caller: Caller, name: str) -> PipelineRow:
    require(caller, Action.READ, resource(pipeline_name(name)))
    found = registry.read(lambda tx: tx.pipelines.get(name))
    if found is None:
        raise _unknown(name)
    return found


def visible(registry: Registry, caller: Caller) -> Sequence[PipelineRow]:
    """Those that the caller may read, by name."""
    return [row for row in every(registry) if is_allowed(caller.principal, Action.READ, resource(row.name))]


def every(registry: Registry) -> Sequence[PipelineRow]:
    return registry.read(lambda tx: tx.pipelines.all())


def forget(registry: Registry, caller: Caller, name: str) -> None:
    """For a pipeline that will not come back; one that still runs is there again with its next report."""
    require(caller, Action.CONFIGURE, resource(pipeline_name(name)))

    def change(tx: Transaction) -> None:
        if not tx.pipelines.remove(name):
            raise _unknown(name)
        record(tx, caller, "pipeline.forgotten", None, pipeline=name)

    registry.change(change)


def _unknown(name: str) -> NotFound:
    return NotFound(f"no pipeline {name!r} has reported here", pipeline=name)
