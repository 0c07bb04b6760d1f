"""JUnit XML: one test case for each version that the candidate was compared with."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from tallystick.cli.data_report import DataReport, occurrences
from tallystick.cli.faults import Fault
from tallystick.cli.output.text import where
from tallystick.cli.report import Reason, Report, Version
from tallystick.finding import Finding

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(answer: Report | DataReport | Fault) -> str:
    if isinstance(answer, DataReport):
        return _document(_data_cases(answer))
    return _fault(answer) if isinstance(answer, Fault) else _report(answer)


def _report(report: Report) -> str:
    cases = [_compared(report, version) for version in report.compared]
    if not report.history:
        cases = [_case(report.candidate.path, "is a valid schema")]
    return _document(cases)


def _data_cases(report: DataReport) -> list[Element]:
    """One for each reason, or one that says that all records are read."""
    if report.fits:
        return [_case(report.candidate.path, f"reads the records of {report.data}")]
    cases = []
    for misfit in report.trial.misfits:
        finding = misfit.finding
        case = _case(report.candidate.path, f"reads the records of {report.data}: {finding.rule}")
        body = f"{finding.message}\n{occurrences(misfit)}\nfix: {finding.fix}\nrule: {finding.rule}"
        _outcome(case, "failure", finding.rule, finding.message, body)
        cases.append(case)
    return cases


def _fault(fault: Fault) -> str:
    case = _case(fault.file or "tally", "can be checked")
    at = where(fault.file or "tally", fault.place)
    body = f"{at}: {fault.reason}" + ("" if fault.fix is None else f"\nfix: {fault.fix}")
    _outcome(case, "error", fault.code, fault.reason, body)
    return _document([case])


def _compared(report: Report, version: Version) -> Element:
    case = _case(report.candidate.path, f"fits under {report.strategy} with {version}")
    found = [finding for finding in report.findings if finding.version == version.number]
    if found:
        message = found[0].message if len(found) == 1 else f"{len(found)} findings: {found[0].message} …"
        body = "\n\n".join(_explained(report, finding) for finding in found)
        _outcome(case, "failure", found[0].rule, message, body)
    return case


def _explained(report: Report, finding: Finding) -> str:
    lines = [
        f"{where(report.candidate.name, finding.new)}: {finding.message}",
        *(f"breaks: {sentence}" for sentence in Reason((finding,)).sentences(report)),
        f"fix: {finding.fix}",
        f"rule: {finding.rule}",
    ]
    return "\n".join(lines)


def _case(classname: str, name: str) -> Element:
    return Element("testcase", classname=_xml(classname), name=_xml(name), time="0")


def _outcome(case: Element, kind: str, type_: str, message: str, body: str) -> None:
    SubElement(case, kind, message=_xml(message), type=_xml(type_)).text = _xml(body)


def _document(cases: list[Element]) -> str:
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    root = Element("testsuites", counts)
    suite = SubElement(root, "testsuite", {"name": "tally check", **counts, "skipped": "0", "time": "0"})
    suite.extend(cases)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
