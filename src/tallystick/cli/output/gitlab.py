"""GitLab's Code Quality report: a list of issues, shown in the merge request's diff."""

import hashlib
from typing import TYPE_CHECKING

from tallystick.cli.data_report import DataReport, occurrences
from tallystick.cli.faults import Fault
from tallystick.cli.output.json_yaml import as_json
from tallystick.cli.report import Reason, Report, reasons
from tallystick.cli.sources import ci_path
from tallystick.finding import Place

if TYPE_CHECKING:
    from tallystick.spark.trial import Misfit


def render(answer: Report | DataReport | Fault) -> str:
    if isinstance(answer, DataReport):
        return as_json([_misfit(answer.candidate.name, misfit) for misfit in answer.trial.misfits])
    return _fault(answer) if isinstance(answer, Fault) else _report(answer)


def _report(report: Report) -> str:
    return as_json([_issue(report.candidate.name, reason) for reason in reasons(report.findings)])


def _fault(fault: Fault) -> str:
    description = _sentences(fault.reason, fault.fix)
    identity = [fault.file or "", fault.code, fault.reason]
    return as_json([_entry(fault.file or "-", fault.place, fault.code, "blocker", description, identity)])


def _sentences(message: str, fix: str | None) -> str:
    return message if fix is None else f"{message.rstrip('.')}. Fix: {fix}"


def _issue(file: str, reason: Reason) -> dict[str, object]:
    finding = reason.newest
    description = _sentences(finding.message, finding.fix)
    return _entry(file, finding.new, finding.rule, "critical", description, [file, *_identity(reason)])


def _misfit(file: str, misfit: "Misfit") -> dict[str, object]:
    """Known again by the reason and the schema, however many records there are by then."""
    finding = misfit.finding
    description = f"{_sentences(finding.message, finding.fix)} ({occurrences(misfit)})"
    path = "" if finding.new is None else finding.new.path
    identity = [file, finding.rule, path, misfit.examples[0].topic, str(finding.version)]
    return _entry(file, None, finding.rule, "critical", description, identity)


def _identity(reason: Reason) -> list[str]:
    """What stays the same when lines move or versions are added, so that GitLab knows the issue again."""
    finding = reason.newest
    new = finding.new.path if finding.new is not None else ""
    return [finding.rule, new, finding.message, finding.was or "", finding.now or ""]


def _entry(
    file: str, place: Place | None, check: str, severity: str, description: str, identity: list[str]
) -> dict[str, object]:
    return {
        "description": description,
        "check_name": check,
        "fingerprint": hashlib.sha256("\0".join(identity).encode("utf-8", "backslashreplace")).hexdigest(),
        "severity": severity,
        "location": {
            "path": ci_path(file),
            "lines": {"begin": place.line if place is not None and place.line is not None else 1},
        },
    }
