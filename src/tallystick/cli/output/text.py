"""Text for people: a verdict, each reason with its place in the source, and what changed."""

import re
from itertools import islice

from rich.cells import cell_len
from rich.text import Text

from tallystick.cli.data_report import DataReport, occurrences, written_in_words
from tallystick.cli.faults import Fault
from tallystick.cli.output.excerpt import excerpt, printable
from tallystick.cli.report import Reason, Report, reasons
from tallystick.cli.sources import SchemaFile
from tallystick.compat.change import Change, ChangeKind
from tallystick.finding import Place
from tallystick.model.strategy import Strategy

LIMIT = 20
"""Reasons, and changes, that are shown unless all are asked for."""

_MARKS = {ChangeKind.ADDED: ("+", "green"), ChangeKind.REMOVED: ("-", "red")}
_PLAIN = (Strategy.BACKWARD, Strategy.FORWARD, Strategy.FULL)
_FITS, _DOES_NOT_FIT = "bold green", "bold red"
_LABEL = 10


def render(
    report: Report | DataReport, *, width: int | None = None, diff: bool = True, limit: int | None = LIMIT
) -> list[Text]:
    """Lines without line ends; sentences are wrapped only where there is a width."""
    if isinstance(report, DataReport):
        return _data_lines(report, width, limit)
    found = reasons(report.findings)
    lines = verdict(report, len(found), width)
    for reason in islice(found, limit):
        lines += [Text(), *reason_lines(reason, report, width)]
    lines += _left_out(len(found), limit, "findings")
    if diff and report.history:
        lines += [Text(), *diff_lines(report, width, limit)]
    if found:
        lines += [Text(), *paragraph(f"Look up a rule: tally rules {found[0].newest.rule}", width, "dim", hang=2)]
    return lines


def _data_lines(report: DataReport, width: int | None, limit: int | None) -> list[Text]:
    mark, style = ("✓", _FITS) if report.fits else ("✗", _DOES_NOT_FIT)
    lines = paragraph(f"{mark} {report.verdict}", width, style, hang=2)
    for sentence in written_in_words(report.trial):
        lines += paragraph(sentence, width, "dim", indent=2)
    misfits = report.trial.misfits
    for misfit in islice(misfits, limit):
        finding = misfit.finding
        lines += [Text(), *headline(report.candidate.name, finding.new, finding.message, width)]
        lines += labelled("records", occurrences(misfit), width)
        lines += labelled("fix", finding.fix, width, "green") + labelled("rule", finding.rule, width, "cyan")
    return lines + _left_out(len(misfits), limit, "findings")


def verdict(report: Report, count: int, width: int | None) -> list[Text]:
    name, strategy = report.candidate.name, report.strategy
    if not report.history:
        return paragraph(f"✓ {name} is a valid schema of type {report.candidate.definition.type}", width, _FITS, hang=2)
    if count:
        outcome = f"✗ {name} does not fit under {strategy}: {count} {'finding' if count == 1 else 'findings'}"
    else:
        outcome = f"✓ {name} fits under {strategy}"
    lines = paragraph(outcome, width, _DOES_NOT_FIT if count else _FITS, hang=2)
    return lines + paragraph(_compared(report), width, "dim", indent=2)


def _compared(report: Report) -> str:
    versions = [str(version) for version in report.compared]
    listed = ", ".join(versions) if len(versions) <= 3 else f"{versions[0]} to {versions[-1]}"
    if len(report.compared) == len(report.history) or report.strategy not in _PLAIN:
        return f"compared with {listed}"
    return f"compared with {listed}; earlier versions count under {report.strategy}_TRANSITIVE only"


def reason_lines(reason: Reason, report: Report, width: int | None) -> list[Text]:
    finding, candidate = reason.newest, report.candidate
    lines = headline(candidate.name, finding.new, finding.message, width)
    lines += [] if _is_around(finding.new, finding.old) else excerpt(candidate.text, finding.new, width)
    old = report.old_file(finding)
    if old is not None and not _is_around(finding.old, finding.new):
        lines += _old_excerpt(old, finding.old, width)
    lines += labelled("was", finding.was, width) + labelled("now", finding.now, width)
    for sentence in reason.sentences(report):
        lines += labelled("breaks", sentence, width)
    return lines + labelled("fix", finding.fix, width, "green") + labelled("rule", finding.rule, width, "cyan")


def _is_around(place: Place | None, other: Place | None) -> bool:
    """Whether the place is only a parent of the other one, which says more."""
    if place is None or other is None:
        return False
    return other.path.startswith((f"{place.path}/", f"{place.path}.")) or (not place.path and bool(other.path))


def _old_excerpt(old: SchemaFile, place: Place | None, width: int | None) -> list[Text]:
    lines = excerpt(old.text, place, width)
    if not lines:
        return []
    return [Text.assemble(("  in ", "dim"), (where(old.name, place), "bold")), *lines]


def fault_lines(fault: Fault, width: int | None = None) -> list[Text]:
    """A fault in the shape of a compiler's error."""
    lines = headline(fault.file, fault.place, f"error: {fault.reason}", width)
    return lines + excerpt(fault.text, fault.place, width) + labelled("fix", fault.fix, width, "green")


def headline(file: str | None, place: Place | None, message: str, width: int | None) -> list[Text]:
    """`file:line:column: message`, which editors and terminals turn into a link."""
    start = "tally" if file is None else where(file, place)
    if place is not None and place.line is None and place.path:
        message = f"at {place.path}: {message}"
    text = Text.assemble((f"{start}: ", "bold"), _with_code(_one_line(message)))
    return wrapped(text, width, 2)


def where(file: str, place: Place | None) -> str:
    at = "" if place is None or place.line is None else f":{place.line}:{place.column or 1}"
    return printable("<stdin>" if file == "-" else file) + at


def labelled(label: str, value: str | None, width: int | None, style: str = "") -> list[Text]:
    if value is None:
        return []
    text = Text.assemble(("  " + label.ljust(_LABEL - 2), "dim"), _with_code(_one_line(value), style))
    return wrapped(text, width, _LABEL)


def paragraph(
    sentence: str, width: int | None, style: str = "", *, indent: int = 0, hang: int | None = None
) -> list[Text]:
    """A sentence that is indented; `hang` is the indent of its later lines, where that is another."""
    text = Text(" " * indent).append_text(_with_code(_one_line(sentence), style))
    return wrapped(text, width, indent if hang is None else hang)


def _one_line(sentence: str) -> str:
    return printable(" ".join(sentence.split()))


def _with_code(sentence: str, style: str = "") -> Text:
    text = Text(sentence, style)
    text.highlight_regex(r"`[^`]+`", "bold")
    return text


def wrapped(text: Text, width: int | None, hang: int) -> list[Text]:
    """Lines that fit the width, those after the first indented by `hang`. Words are never broken."""
    if width is None:
        return [text]
    lines: list[Text] = []
    start = end = 0
    for word in re.finditer(r"\S+", text.plain):
        if start < end and cell_len(text.plain[start : word.end()]) + (hang if lines else 0) > width:
            lines.append(_slice(text, start, end, hang if lines else 0))
            start = word.start()
        end = word.end()
    return [*lines, _slice(text, start, end, hang if lines else 0)]


def _slice(text: Text, start: int, end: int, indent: int) -> Text:
    return Text(" " * indent).append_text(text[start:end])


def diff_lines(report: Report, width: int | None, limit: int | None = LIMIT) -> list[Text]:
    previous = report.history[-1].file.name
    title = f"{'Changes' if report.changes else 'No changes'} from {previous} to {report.candidate.name}"
    lines = paragraph(title, width, "bold", hang=2)
    for change in islice(report.changes, limit):
        lines += change_lines(change, report.strategy, width)
    return lines + _left_out(len(report.changes), limit, "changes")


def change_lines(change: Change, strategy: Strategy, width: int | None = None) -> list[Text]:
    mark, style = _MARKS.get(change.kind, ("~", "yellow"))
    breaks, weight = _breaks(change, strategy)
    text = Text.assemble("  ", (f"{mark} {_one_line(_change(change))}", style), "  ", (f"[{breaks}]", weight))
    return wrapped(text, width, 4)


def _change(change: Change) -> str:
    what = change.what.rstrip(".")
    match change.kind:
        case ChangeKind.ADDED | ChangeKind.REMOVED:
            value = change.now if change.kind is ChangeKind.ADDED else change.was
            return what if value is None or f"`{value}`" in what else f"{what}: {value}"
        case ChangeKind.CHANGED:
            return what + _was_now(change)
        case kind:
            return f"{what} {kind}{_was_now(change)}"


def _was_now(change: Change) -> str:
    if change.was is None and change.now is None:
        return ""
    return f": {change.was or 'nothing'} → {change.now or 'nothing'}"


def _breaks(change: Change, strategy: Strategy) -> tuple[str, str]:
    """Which of the three plain strategies refuse the change; the transitive ones refuse it with them."""
    plain = [s for s in _PLAIN if s in change.breaks]
    if not plain:
        return "breaks nothing", "dim"
    return f"breaks {', '.join(plain)}", "bold red" if strategy in change.breaks else "yellow"


def _left_out(count: int, limit: int | None, what: str) -> list[Text]:
    if limit is None or count <= limit:
        return []
    return [Text(), Text(f"… and {count - limit} more {what}; --all shows them", "bold")]
