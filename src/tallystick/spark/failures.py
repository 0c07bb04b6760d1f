"""What Spark says when something fails, as an error of our own: one sentence instead of a Java stack."""

import re

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, ParseException, PySparkException, PythonException

from tallystick import errors
from tallystick.errors import BadRequest, TallystickError, Unavailable

SPARK_ERRORS = (PySparkException, Py4JError)

_OURS = re.compile(r"^(?:tallystick\.errors\.)(\w+): (.+)$", re.MULTILINE)
"""The last line of a Python worker's traceback."""
_PLACE = re.compile(r"\(?line (\d+),? pos(?:ition)? (\d+)\)?")
_CODE = re.compile(r"^\[[A-Z_.0-9]+\] ")
_STATE = re.compile(r"\.? ?SQLSTATE: \w+")
_LONGEST = 500


class QueryFailed(BadRequest):
    """Spark does not take a query, or cannot finish it."""

    code = "query-failed"


def failure_of(error: Exception) -> TallystickError:
    """Errors of ours that a worker raised come out as they were; of all others it is Spark's own sentence."""
    text = str(error)
    if ours := _of_worker(text):
        return ours
    if isinstance(error, AnalysisException | ParseException):
        return QueryFailed(f"{sentence(error)}{_place(text)}")
    if isinstance(error, Py4JJavaError | PythonException):
        return QueryFailed(f"Spark could not finish: {_cause(text)}")
    if isinstance(error, PySparkException):
        return QueryFailed(f"Spark could not finish: {sentence(error)}")
    return Unavailable(f"Spark has gone: {_first_line(text)}")


def transient_reason(error: BaseException) -> str | None:
    """Why it may be better later; None where it will not be."""
    ours = _of_worker(str(error)) if isinstance(error, PySparkException) else error
    return ours.message if isinstance(ours, TallystickError) and ours.transient else None


def sentence(error: PySparkException) -> str:
    """What it says, without codes and plans."""
    return _first_line(_STATE.sub("", _CODE.sub("", (error.getMessage() or str(error)).strip())))


def missing_table(error: Exception) -> list[str] | None:
    """The parts of a name that Spark does not know, where that is what it says."""
    if not isinstance(error, AnalysisException) or error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
        return None
    told = (error.getMessageParameters() or {}).get("relationName", "")
    return [part.replace("``", "`") for part in re.findall(r"`((?:[^`]|``)*)`", told)] or None


def _of_worker(text: str) -> TallystickError | None:
    found = _OURS.findall(text)
    if not found:
        return None
    name, message = found[-1]
    kind = getattr(errors, name, TallystickError)
    # Their own arguments are gone with the worker; what they said is not.
    error: TallystickError = kind.__new__(kind)
    TallystickError.__init__(error, message)
    return error


def _place(text: str) -> str:
    found = _PLACE.search(text)
    return "" if found is None else f" (line {found[1]}, column {int(found[2]) + 1})"


def _cause(text: str) -> str:
    """The innermost reason of a stack."""
    causes = re.findall(r"^(?:Caused by: |: )(?:[\w.$]+(?:Exception|Error): )?(.+)$", text, re.MULTILINE)
    return _first_line(_STATE.sub("", _CODE.sub("", causes[-1] if causes else text.strip())))


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "it does not say why")
    return line[:_LONGEST].rstrip(".")
