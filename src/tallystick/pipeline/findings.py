"""What the check of a pipeline file can find: one id for each kind of mistake, with a sentence for the page."""

from tallystick.finding import Finding, Place

FILE_UNREADABLE = "PIPELINE_FILE_UNREADABLE"
YAML_INVALID = "PIPELINE_YAML_INVALID"
YAML_UNSUPPORTED = "PIPELINE_YAML_UNSUPPORTED"
TOO_LARGE = "PIPELINE_TOO_LARGE"
KEY_UNKNOWN = "PIPELINE_KEY_UNKNOWN"
KEY_MISSING = "PIPELINE_KEY_MISSING"
KEY_TWICE = "PIPELINE_KEY_TWICE"
KEYS_EXCLUSIVE = "PIPELINE_KEYS_EXCLUSIVE"
TYPE_WRONG = "PIPELINE_TYPE_WRONG"
VALUE_INVALID = "PIPELINE_VALUE_INVALID"
VALUE_AMBIGUOUS = "PIPELINE_VALUE_AMBIGUOUS"
NAME_TAKEN = "PIPELINE_NAME_TAKEN"
CLUSTER_UNKNOWN = "PIPELINE_CLUSTER_UNKNOWN"
CLUSTER_MISSING = "PIPELINE_CLUSTER_MISSING"
SECRET_LITERAL = "PIPELINE_SECRET_LITERAL"  # noqa: S105  # the name of a mistake
VARIABLE_MISSING = "PIPELINE_VARIABLE_MISSING"
VARIABLE_MALFORMED = "PIPELINE_VARIABLE_MALFORMED"
SCHEMA_INVALID = "PIPELINE_SCHEMA_INVALID"
TOPIC_SHARED = "PIPELINE_TOPIC_SHARED"
CYCLE = "PIPELINE_CYCLE"

CATALOGUE = {
    FILE_UNREADABLE: "The file is not there, or no text in UTF-8.",
    YAML_INVALID: "The text is no YAML, or more than one document.",
    YAML_UNSUPPORTED: "Tags (`!name`) and merge keys (`<<`) are not read.",
    TOO_LARGE: "The file is too long, too deep, or its aliases make too much of it.",
    KEY_UNKNOWN: "No such key is known here.",
    KEY_MISSING: "A key is needed here.",
    KEY_TWICE: "A key stands twice in one mapping.",
    KEYS_EXCLUSIVE: "Of these keys only one can be meant.",
    TYPE_WRONG: "Something else is expected here: a text, a number, a list, a mapping.",
    VALUE_INVALID: "The type is right and the value is not.",
    VALUE_AMBIGUOUS: "Some readers of YAML take it for a truth value or a number, others for a text: quote it.",
    NAME_TAKEN: "Two steps have the same name; status, checkpoints and `--only` tell steps by their names.",
    CLUSTER_UNKNOWN: "No cluster has this name.",
    CLUSTER_MISSING: "There are several clusters, and none is named.",
    SECRET_LITERAL: "A secret stands in the file.",
    VARIABLE_MISSING: "The environment does not have the variable. Its value is never shown.",
    VARIABLE_MALFORMED: "A reference to the environment that is none.",
    SCHEMA_INVALID: "The file of a schema is not there, or cannot be parsed.",
    TOPIC_SHARED: "The internal topic of a route is used for something else.",
    CYCLE: "Records would go round: a step reads what comes from its own output.",
}


class Findings:
    """All that was found in one file, each thing once: what the file says for all steps is looked at for each."""

    def __init__(self) -> None:
        self._all: dict[Finding, None] = {}

    def add(self, rule: str, place: Place, message: str, fix: str, now: str | None = None) -> None:
        assert rule in CATALOGUE
        self._all[Finding(rule=rule, message=message, fix=fix, new=place, now=now)] = None

    def __len__(self) -> int:
        return len(self._all)

    def in_order(self) -> list[Finding]:
        """By their places in the file."""
        return sorted(self._all, key=_position)


def _position(finding: Finding) -> tuple[int, int]:
    place = finding.new
    return (0, 0) if place is None else (place.line or 0, place.column or 0)
