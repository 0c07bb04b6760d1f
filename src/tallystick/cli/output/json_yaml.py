"""JSON and YAML: the same object in two spellings. Its keys are stable; new ones may be added.

fits           whether the candidate may become the next version
strategy       as asked for
type           the candidate's schema type
candidate      its file
compared_with  [{version, file}]: the versions that the strategy looks at
findings       every finding (see `Finding.as_dict`) with `old_file` and `new_file`
changes        what changed since the last version given (see `Change.as_dict`)
error          only where there is no answer: {code, message, fix, file, place}; `fits` is false then

Against data there are, instead of strategy, compared_with and changes:

data           the topic or table
records        how many there are, and of them `read`, `unreadable` and `tombstones`
written        [{topic, version, schema_id, records, unreadable}], for each schema that records were written with
findings       each with `records`, how many it holds for, and `examples`, where some of them stand
"""

import json
from dataclasses import asdict

from tallystick.cli.data_report import DataReport
from tallystick.cli.faults import Fault
from tallystick.cli.report import Report
from tallystick.finding import Finding


def as_dict(answer: Report | DataReport | Fault) -> dict[str, object]:
    if isinstance(answer, DataReport):
        return _data_report(answer)
    return _fault(answer) if isinstance(answer, Fault) else _report(answer)


def _report(report: Report) -> dict[str, object]:
    return {
        "fits": report.fits,
        "strategy": str(report.strategy),
        "type": str(report.candidate.definition.type),
        "candidate": report.candidate.name,
        "compared_with": [{"version": v.number, "file": v.file.name} for v in report.compared],
        "findings": [_finding(report, finding) for finding in report.findings],
        "changes": [change.as_dict() for change in report.changes],
    }


def _finding(report: Report, finding: Finding) -> dict[str, object]:
    old = report.old_file(finding)
    files = {"old_file": old.name} if old is not None else {}
    return finding.as_dict() | files | {"new_file": report.candidate.name}


def _data_report(report: DataReport) -> dict[str, object]:
    trial = report.trial
    return {
        "fits": report.fits,
        "type": str(report.candidate.definition.type),
        "candidate": report.candidate.name,
        "data": report.data,
        "records": trial.records,
        "read": trial.read,
        "unreadable": trial.unreadable,
        "tombstones": trial.tombstones,
        "written": [asdict(written) for written in trial.written],
        "findings": [
            misfit.finding.as_dict()
            | {
                "records": misfit.count,
                "examples": [{"topic": each.topic, "position": str(each.position)} for each in misfit.examples],
                "new_file": report.candidate.name,
            }
            for misfit in trial.misfits
        ],
    }


def _fault(fault: Fault) -> dict[str, object]:
    return {"fits": False, "findings": [], "changes": [], "error": fault.as_dict()}


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def as_yaml(value: object) -> str:
    import yaml

    return str(yaml.dump(value, Dumper=_plain(), sort_keys=False, allow_unicode=True, width=100)).rstrip("\n")


def _plain() -> type:
    """A dumper without anchors: a place that stands twice is written twice."""
    import yaml

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    return Plain
