"""The catalogue of what a translation loses, and of what has no translation.

A rule is one id, one sentence and one case in `conformance/translate`. What is lost can be allowed by the rule's short
name, its id in small letters: `TRANSLATE_DECIMAL_TO_STRING` is `decimal-to-string`.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    LOSSY = "lossy"
    """Something is lost; whoever can do without it allows it by name."""
    IMPOSSIBLE = "impossible"
    """There is no translation."""


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    sentence: str
    instead: str
    """What to do about it, apart from allowing it."""
    severity: Severity

    @property
    def name(self) -> str:
        """What a pipeline's `allow` calls it."""
        return self.id.removeprefix("TRANSLATE_").lower().replace("_", "-")

    @property
    def fix(self) -> str:
        if self.severity is Severity.IMPOSSIBLE:
            return self.instead
        return f"allow it by its name, `{self.name}`, or {self.instead}"


CATALOGUE: dict[str, Rule] = {}


def _rule(name: str, sentence: str, instead: str, severity: Severity = Severity.LOSSY) -> Rule:
    rule = Rule(f"TRANSLATE_{name}", sentence, instead, severity)
    CATALOGUE[rule.id] = rule
    return rule


def _impossible(name: str, sentence: str, instead: str) -> Rule:
    return _rule(name, sentence, instead, Severity.IMPOSSIBLE)


INT64_TO_NUMBER = _rule(
    "INT64_TO_NUMBER",
    "JSON holds integers of any size, but readers that keep numbers as doubles round those beyond 2^53.",
    "use a smaller type",
)
NUMBER_TO_FLOAT = _rule(
    "NUMBER_TO_FLOAT",
    "A JSON number within the bounds of a 32-bit float becomes one and is rounded to 24 bits.",
    "drop the bounds, so that it becomes a double",
)
UINT32_TO_INT64 = _rule(
    "UINT32_TO_INT64", "Avro has no unsigned numbers: a 32-bit one becomes a long.", "declare it as int64"
)
UINT64_TO_DECIMAL = _rule(
    "UINT64_TO_DECIMAL",
    "Avro has no unsigned numbers: a 64-bit one becomes a decimal of 20 digits, as no long holds it.",
    "declare it as int64",
)
DECIMAL_TO_STRING = _rule(
    "DECIMAL_TO_STRING",
    "A decimal becomes a text with all its digits where the target has no such decimal.",
    "declare it as a text",
)
UUID_TO_STRING = _rule("UUID_TO_STRING", "Protobuf has no UUIDs: one becomes a text.", "declare it as a text")
TIME_TO_STRING = _rule(
    "TIME_TO_STRING",
    "Protobuf has no dates, times of day and local timestamps: they become texts of ISO 8601.",
    "declare it as a text, or as a point in time",
)
TIME_TO_MICROS = _rule(
    "TIME_TO_MICROS",
    "Protobuf counts nanoseconds; in Avro a point in time has microseconds, as few readers know more.",
    "send the nanoseconds in a field of their own",
)
FIXED_SIZE_LOST = _rule(
    "FIXED_SIZE_LOST",
    "The target does not know how many bytes a value of a fixed size has.",
    "declare it without a fixed size",
)
DURATION_TO_BYTES = _rule(
    "DURATION_TO_BYTES",
    "Avro's duration becomes its twelve bytes: no other format counts months, days and milliseconds.",
    "declare it as a number",
)
ENUM_TO_STRING = _rule(
    "ENUM_TO_STRING",
    "An enum becomes a text where its symbols are no names in the target.",
    "use symbols of letters, digits and underscores",
)
ENUM_NUMBER_LOST = _rule(
    "ENUM_NUMBER_LOST",
    "Numbers of an enum's values that do not count up from 0 are lost, and so are second names of a number.",
    "number them 0, 1, 2 …",
)
FIELD_NUMBER_LOST = _rule(
    "FIELD_NUMBER_LOST", "Field numbers that do not count up from 1 are lost.", "number them 1, 2, 3 …"
)
WIRE_ENCODING_LOST = _rule(
    "WIRE_ENCODING_LOST",
    "What only Protobuf's wire knows is lost: sint, fixed, groups, required fields and closed enums.",
    "use the plain types of proto3",
)
EXTENSION_LOST = _rule("EXTENSION_LOST", "Extensions of a message are left out.", "declare them as fields")
MESSAGE_LOST = _rule(
    "MESSAGE_LOST",
    "Messages and enums of a file that its first message does not use are left out.",
    "name the message that is meant, and keep the others in files of their own",
)
DEFAULT_LOST = _rule(
    "DEFAULT_LOST",
    "A default is lost where the target has none for such a field, or of such a type.",
    "remove the default",
)
ALIAS_LOST = _rule("ALIAS_LOST", "Only Avro has aliases; they are lost.", "remove the aliases")
NAME_CHANGED = _rule(
    "NAME_CHANGED",
    "A name that the target does not allow, or not twice, becomes another one.",
    "use letters, digits and underscores, and each name once",
)
ABSENT_AND_NULL_MERGED = _rule(
    "ABSENT_AND_NULL_MERGED",
    "A property that may be absent or null can only be one of both.",
    "allow one of the two in the schema",
)
NULL_TO_ABSENT = _rule(
    "NULL_TO_ABSENT", "A property that is always there, but may be null, may be absent instead.", "make it optional"
)
NULL_TO_EMPTY = _rule(
    "NULL_TO_EMPTY",
    "A list or map that may be absent becomes empty: Protobuf does not tell the two apart.",
    "make it required",
)
REQUIRED_TO_OPTIONAL = _rule(
    "REQUIRED_TO_OPTIONAL",
    "In Protobuf every message may be absent, so a field that is always there becomes optional.",
    "make it optional",
)
VALUE_TO_MESSAGE = _rule(
    "VALUE_TO_MESSAGE",
    "A value that Protobuf cannot hold at its place is put into a message of its own, as its field `value`.",
    "declare a record there",
)
UNION_TO_ONEOF = _rule(
    "UNION_TO_ONEOF",
    "A union becomes a oneof with a field for each branch, which may be absent.",
    "declare an optional field for each branch",
)
ONEOF_TO_FIELDS = _rule(
    "ONEOF_TO_FIELDS",
    "The fields of a oneof become optional fields; that only one of them is there is lost.",
    "declare them as optional fields",
)
MAP_KEY_TO_STRING = _rule(
    "MAP_KEY_TO_STRING", "Keys of maps become texts: only Protobuf has others.", "declare the keys as texts"
)
FORMAT_ASSERTED = _rule(
    "FORMAT_ASSERTED",
    "A `format` only hints at what a text is; as a type it refuses other texts, and keeps neither the spelling nor the"
    " offset from UTC, nor more than six digits of a second.",
    "drop the format, so that it becomes a text",
)
KEYWORD_LOST = _rule(
    "KEYWORD_LOST", "What a keyword of JSON Schema asks of a value is not asked any more.", "remove the keyword"
)
UNKNOWN_PROPERTIES_LOST = _rule(
    "UNKNOWN_PROPERTIES_LOST",
    "An open object may hold properties that its schema does not name; they are lost.",
    'close it with "additionalProperties": false',
)

ANY_VALUE = _impossible(
    "ANY_VALUE", "A value of any type has no translation.", 'say which type it has: add "type", or its properties'
)
NO_VALUES = _impossible("NO_VALUES", "A schema that no value fits has no translation.", "let some value fit")
NULL_TYPE = _impossible("NULL_TYPE", "Protobuf has no type that is null alone.", "remove the field")
TUPLE = _impossible(
    "TUPLE", "A list with a type for each place has no translation.", "make it an object with a property for each place"
)
UNION_AMBIGUOUS = _impossible(
    "UNION_AMBIGUOUS",
    "Of two branches that are the same in JSON (two objects, two texts) or in Avro (an int and a date) nobody could"
    " tell which one is meant.",
    "use branches that the format tells apart, or an optional field for each branch",
)
RECURSION_WITHOUT_RECORD = _impossible(
    "RECURSION_WITHOUT_RECORD",
    "A type that holds itself without an object between has no translation.",
    "use an object",
)
NO_MESSAGE = _impossible("NO_MESSAGE", "The file defines no message that a record could be.", "add the message")
