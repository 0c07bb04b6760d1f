"""Workflow commands of GitHub Actions: one annotation a reason, on the candidate's line."""

from tallystick.cli.data_report import DataReport, occurrences
from tallystick.cli.faults import Fault
from tallystick.cli.output.excerpt import printable
from tallystick.cli.report import Reason, Report, reasons
from tallystick.cli.sources import STANDARD_INPUT, ci_path
from tallystick.finding import Place


def render(answer: Report | DataReport | Fault) -> str:
    if isinstance(answer, DataReport):
        return _data_report(answer)
    return _fault(answer) if isinstance(answer, Fault) else _report(answer)


def _report(report: Report) -> str:
    found = reasons(report.findings)
    lines = [_annotation(report.candidate.name, r.newest.new, r.newest.rule, _message(r, report)) for r in found]
    # An ordinary line of the log; it never starts with "::", whatever the file is called.
    verdict = f"{'fits' if report.fits else 'does not fit'} under {report.strategy}"
    return "\n".join([*lines, f"{'✓' if report.fits else '✗'} {printable(report.candidate.name)} {verdict}"])


def _data_report(report: DataReport) -> str:
    lines = [
        _annotation(
            report.candidate.name, None, m.finding.rule, f"{m.finding.message}\n{occurrences(m)}\nfix: {m.finding.fix}"
        )
        for m in report.trial.misfits
    ]
    return "\n".join([*lines, printable(f"{'✓' if report.fits else '✗'} {report.verdict}")])


def _fault(fault: Fault) -> str:
    message = fault.reason if fault.fix is None else f"{fault.reason}\nfix: {fault.fix}"
    return _annotation(fault.file, fault.place, fault.code, message)


def _message(reason: Reason, report: Report) -> str:
    broken = [f"breaks: {sentence}" for sentence in reason.sentences(report)]
    return "\n".join([reason.newest.message, *broken, f"fix: {reason.newest.fix}"])


def _annotation(file: str | None, place: Place | None, title: str, message: str) -> str:
    properties: dict[str, object] = {}
    if file is not None and file != STANDARD_INPUT:
        properties["file"] = ci_path(file)
    if place is not None and place.line is not None:
        properties |= {"line": place.line, "col": place.column or 1}
    properties["title"] = title
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::error {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
