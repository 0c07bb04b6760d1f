"""Files with schemas that a pipeline names: read and parsed when it is loaded, not when the first record comes."""

from pathlib import Path

from tallystick.errors import InvalidSchema, UnknownSchemaType
from tallystick.finding import Place
from tallystick.formats.catalogue import parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.pipeline.findings import SCHEMA_INVALID, Findings
from tallystick.pipeline.schemas import SchemaFile

ENDINGS = {".avsc": AVRO, ".json": JSON_SCHEMA, ".proto": PROTOBUF}
_MAX_BYTES = 8 * 1024 * 1024


def schema_file(path: str, format_: SchemaType | None, place: Place, findings: Findings) -> SchemaFile | None:
    """None where there is a finding instead. Without a format the file's ending tells it."""
    type_ = format_ or ENDINGS.get(Path(path).suffix.lower())
    if type_ is None:
        known = ", ".join(f"{ending} ({found})" for ending, found in ENDINGS.items())
        message = f"the ending of {Path(path).name!r} does not tell which schema type this is"
        findings.add(SCHEMA_INVALID, place, message, f"rename the file, or add `format:`; known endings are {known}")
        return None
    text = _text(path, place, findings)
    if text is None:
        return None
    definition = SchemaDefinition(type_, text)
    try:
        parse(definition)
    except InvalidSchema as e:
        at = "" if e.place is None or e.place.line is None else f" (its line {e.place.line}, column {e.place.column})"
        message = f"{Path(path).name} cannot be parsed{at}: {e.reason}"
        findings.add(SCHEMA_INVALID, place, message, e.fix or "correct the schema; `tally check` shows the line")
        return None
    except UnknownSchemaType as e:
        findings.add(SCHEMA_INVALID, place, e.message, "install the package that brings it")
        return None
    return SchemaFile(path=path, definition=definition, place=place)


def _text(path: str, place: Place, findings: Findings) -> str | None:
    try:
        with open(path, "rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
        if len(content) <= _MAX_BYTES:
            return content.decode("utf-8-sig")
        reason = f"has more than {_MAX_BYTES // 1024**2} MiB"
    except FileNotFoundError:
        reason = "is not there"
    except UnicodeDecodeError:
        reason = "is no text in UTF-8"
    except (OSError, ValueError) as e:
        reason = f"cannot be read: {getattr(e, 'strerror', None) or e}"
    fix = "correct the path; what is relative begins at the folder of the pipeline file"
    findings.add(SCHEMA_INVALID, place, f"the schema's file {path} {reason}", fix)
    return None
