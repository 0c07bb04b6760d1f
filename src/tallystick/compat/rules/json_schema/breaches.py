"""The rules of JSON Schema. `containment` decides when one applies."""

from tallystick.compat.rules.json_schema.breach import Breach, both_ways, breach

_VALIDATION = "JSON Schema 2020-12 Validation"
_APPLICATORS = "JSON Schema 2020-12 Core, section 10"


def _limit(keyword: str, id_: str, noun: str, demand: str, section: str) -> Breach:
    """The two rules of a keyword that sets a limit."""
    return breach(
        (
            f"{id_}_TIGHTENED",
            f"{noun} must not become tighter.",
            f"{{where}} must now {demand}, but values written with the old schema need not",
            f"{{back}} `{keyword}`",
        ),
        (
            f"{id_}_LOOSENED",
            f"{noun} must not become looser.",
            f"{{where}} need no longer {demand}, but readers of the old schema still refuse values that do not",
            f"keep `{keyword}` at {{was}}",
        ),
        f"{_VALIDATION}, {section}",
    )


MINIMUM = _limit("minimum", "MINIMUM", "The lower limit of a number", "be {demand}", "6.2.4 and 6.2.5")
MAXIMUM = _limit("maximum", "MAXIMUM", "The upper limit of a number", "be {demand}", "6.2.2 and 6.2.3")
MULTIPLE_OF = _limit("multipleOf", "MULTIPLE_OF", "The step of a number", "be a multiple of {demand}", "6.2.1")
MIN_LENGTH = _limit(
    "minLength", "MIN_LENGTH", "The least length of a text", "have at least {demand} characters", "6.3.2"
)
MAX_LENGTH = _limit(
    "maxLength", "MAX_LENGTH", "The greatest length of a text", "have at most {demand} characters", "6.3.1"
)
MIN_ITEMS = _limit("minItems", "MIN_ITEMS", "The least number of items", "have at least {demand} items", "6.4.2")
MAX_ITEMS = _limit("maxItems", "MAX_ITEMS", "The greatest number of items", "have at most {demand} items", "6.4.1")
UNIQUE_ITEMS = _limit("uniqueItems", "UNIQUE_ITEMS", "The demand that items differ", "hold no equal items", "6.4.3")
MIN_PROPERTIES = _limit(
    "minProperties", "MIN_PROPERTIES", "The least number of properties", "have at least {demand} properties", "6.5.2"
)
MAX_PROPERTIES = _limit(
    "maxProperties", "MAX_PROPERTIES", "The greatest number of properties", "have at most {demand} properties", "6.5.1"
)

TYPE_CHANGED = both_ways(
    (
        "TYPE_CHANGED",
        "A type must not be replaced by another.",
        "{where} is written as {written} by one of the schemas and read as {read} by the other",
        "keep the old type ({was}); put the new one under a new name",
    ),
    f"{_VALIDATION}, 6.1.1",
)
TYPE = breach(
    (
        "TYPE_NARROWED",
        "A type that was allowed must stay allowed.",
        "{where} must now be {read}, but values written with the old schema may be {lost}",
        "allow {lost} as well, as the old schema does",
    ),
    (
        "TYPE_WIDENED",
        "A type that readers of the old schema refuse must not be added.",
        "{where} may now be {lost}, but readers of the old schema expect {read}",
        "keep {where} to {read}, or put the new type under a new name",
    ),
    f"{_VALIDATION}, 6.1.1",
)
ENUM_VALUE = breach(
    (
        "ENUM_VALUE_REMOVED",
        "A value that was allowed must stay allowed.",
        "{where} may no longer be {value}, but values written with the old schema may be just that",
        "allow {value} again",
    ),
    (
        "ENUM_VALUE_ADDED",
        "A value that readers of the old schema refuse must not be added.",
        "{where} may now be {value}, which readers of the old schema refuse",
        "add {value} only when every reader has the new schema, or use a strategy that does not promise FORWARD",
    ),
    f"{_VALIDATION}, 6.1.2 and 6.1.3",
)
ENUM = breach(
    (
        "ENUM_ADDED",
        "A value that was free must not be restricted to a list.",
        "{where} must now be one of {now}, but values written with the old schema may be others",
        "drop the list of values",
    ),
    (
        "ENUM_REMOVED",
        "A value that was restricted to a list must not become free.",
        "{where} need no longer be one of {was}, but readers of the old schema refuse any other value",
        "keep the list of values",
    ),
    f"{_VALIDATION}, 6.1.2 and 6.1.3",
)
FORBIDDEN = breach(
    (
        "VALUE_FORBIDDEN",
        "What was allowed must not be forbidden altogether.",
        "{where} is now forbidden, but values written with the old schema may hold it",
        "replace `false` by the schema that stood there",
    ),
    (
        "VALUE_ALLOWED",
        "What the old schema forbids must not be allowed.",
        "{where} is now allowed, but readers of the old schema refuse every value that holds it",
        "keep `false` there",
    ),
    "JSON Schema 2020-12 Core, 4.3.2",
)
REQUIRED = breach(
    (
        "REQUIRED_ADDED",
        "A property must not become required.",
        "`{name}` is now required in {where}, but values written with the old schema may leave it out",
        "drop `{name}` from `required`, or keep it optional until every producer sends it",
    ),
    (
        "REQUIRED_REMOVED",
        "A required property must stay required.",
        "`{name}` is no longer required in {where}, but readers of the old schema refuse values without it",
        "keep `{name}` in `required` until every consumer reads the new schema",
    ),
    f"{_VALIDATION}, 6.5.3",
)
DEPENDENT_REQUIRED = breach(
    (
        "DEPENDENT_REQUIRED_ADDED",
        "A property must not come to call for another.",
        "where {where} holds `{name}` it must now hold `{needed}` as well, which old values need not",
        "drop `{needed}` from what `{name}` calls for",
    ),
    (
        "DEPENDENT_REQUIRED_REMOVED",
        "What a property calls for must stay called for.",
        "where {where} holds `{name}` it need no longer hold `{needed}`, which readers of the old schema still expect",
        "keep `{needed}` in what `{name}` calls for",
    ),
    f"{_VALIDATION}, 6.5.4",
)
OPEN_PROPERTY = breach(
    (
        "PROPERTY_ADDED_TO_OPEN_OBJECT",
        "A property that is added to an open object must take any value.",
        "`{name}` is new in {where}, which the old schema leaves open: old values may hold anything under that name",
        "let `{name}` take any value, close the object from the start, or choose the lenient policy",
    ),
    (
        "PROPERTY_REMOVED_FROM_OPEN_OBJECT",
        "A property must not be removed from an open object.",
        "`{name}` is gone from {where}, which is open: new values may hold anything under that name, and readers of the"
        " old schema refuse what does not fit it",
        "keep `{name}`, or choose the lenient policy",
    ),
    "Confluent Schema Registry, PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL; schema-registry#1458, #2927",
)
CLOSED_PROPERTY = breach(
    (
        "PROPERTY_REMOVED_FROM_CLOSED_OBJECT",
        "A property must not be removed from a closed object.",
        "`{name}` is gone from {where}, which is closed: values written with the old schema that hold it are refused",
        "keep `{name}`, or choose the lenient policy",
    ),
    (
        "PROPERTY_ADDED_TO_CLOSED_OBJECT",
        "A property must not be added to an object that the old schema closes.",
        "`{name}` is new in {where}, which the old schema closes: its readers refuse values that hold it",
        "open the object first and wait for every reader, or choose the lenient policy",
    ),
    "Confluent Schema Registry, PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
)
ADDITIONAL_PROPERTIES = breach(
    (
        "ADDITIONAL_PROPERTIES_CLOSED",
        "An open object must stay open.",
        "{where} no longer takes properties that the schema does not name, but old values may hold some",
        "allow additional properties again",
    ),
    (
        "ADDITIONAL_PROPERTIES_OPENED",
        "A closed object must stay closed.",
        "{where} now takes properties that the schema does not name, which readers of the old one refuse",
        "keep additional properties forbidden",
    ),
    f"{_APPLICATORS}.3.2.3",
)
OPEN_PATTERN = breach(
    (
        "PATTERN_PROPERTY_ADDED_TO_OPEN_OBJECT",
        "A pattern of names that is added to an open object must take any value.",
        "names like `{name}` are new in {where}, whose old schema is open: it cannot be shown that old values fit them",
        "let the pattern take any value, or choose the lenient policy",
    ),
    (
        "PATTERN_PROPERTY_REMOVED_FROM_OPEN_OBJECT",
        "A pattern of names must not be removed from an open object.",
        "names like `{name}` are gone from {where}, which is open: it cannot be shown that new values fit them",
        "keep the pattern, or choose the lenient policy",
    ),
    f"{_APPLICATORS}.3.2.2",
    has_witness=False,
)
CLOSED_PATTERN = breach(
    (
        "PATTERN_PROPERTY_REMOVED_FROM_CLOSED_OBJECT",
        "A pattern of names must not be removed from a closed object.",
        "names like `{name}` are gone from {where}, which is closed: it cannot be shown that no old value holds one",
        "keep the pattern",
    ),
    (
        "PATTERN_PROPERTY_ADDED_TO_CLOSED_OBJECT",
        "A pattern of names must not be added to an object that the old schema closes.",
        "names like `{name}` are new in {where}, which the old schema closes: it cannot be shown that it takes them",
        "add the pattern only when every reader has the new schema",
    ),
    f"{_APPLICATORS}.3.2.2",
    has_witness=False,
)
ADDITIONAL_ITEMS = breach(
    (
        "ADDITIONAL_ITEMS_CLOSED",
        "A list that may go on must not end at a fixed length.",
        "{where} may no longer have more than {demand} items, but values written with the old schema may",
        "allow further items again",
    ),
    (
        "ADDITIONAL_ITEMS_OPENED",
        "A list that ends at a fixed length must not go on.",
        "{where} may now have more than {demand} items, which readers of the old schema refuse",
        "keep further items forbidden",
    ),
    f"{_APPLICATORS}.3.1.2",
)


def _unproven(id_: str, keyword: str, noun: str, section: str) -> Breach:
    """The two rules of a keyword that is refused unless it is proven to hold."""
    return breach(
        (
            f"{id_}_TIGHTENED",
            f"{noun} must be shown to take every value that was written.",
            f"it cannot be shown that values written with the old schema fit `{keyword}` of {{where}}",
            f"keep `{keyword}` as it was, or let it take all that the old schema takes",
        ),
        (
            f"{id_}_LOOSENED",
            f"{noun} of the old schema must be shown to take every new value.",
            f"it cannot be shown that new values fit `{keyword}` that the old schema has for {{where}}",
            f"keep `{keyword}` as it was",
        ),
        section,
        has_witness=False,
    )


PATTERN = _unproven("PATTERN", "pattern", "A pattern", f"{_VALIDATION}, 6.3.3")
CONTENT = _unproven("CONTENT", "contentEncoding", "An encoding of texts", "JSON Schema draft 7 Validation, 8.3 and 8.4")
CONTAINS = _unproven("CONTAINS", "contains", "A demand on some items", f"{_APPLICATORS}.3.1.3")
PROPERTY_NAMES = _unproven("PROPERTY_NAMES", "propertyNames", "A demand on names", f"{_APPLICATORS}.3.2.4")
ANY_OF = _unproven("ANY_OF", "anyOf", "A choice", f"{_APPLICATORS}.2.1.2")
ONE_OF = _unproven("ONE_OF", "oneOf", "A choice of exactly one", f"{_APPLICATORS}.2.1.3")
NOT = _unproven("NOT", "not", "An exclusion", f"{_APPLICATORS}.2.1.4")
CONDITION = _unproven("CONDITION", "if", "A condition", f"{_APPLICATORS}.2.2")
UNEVALUATED = _unproven("UNEVALUATED", "{keyword}", "What is left unevaluated", "JSON Schema 2020-12 Core, section 11")
BRANCH = breach(
    (
        "BRANCH_REMOVED",
        "A branch that took values which were written must stay.",
        "no branch of `{keyword}` takes what the old schema allows for {where} at this place",
        "put the branch back",
    ),
    (
        "BRANCH_ADDED",
        "A branch whose values the old schema refuses must not be added.",
        "this branch allows for {where} what no branch of the old schema's `{keyword}` takes",
        "add the branch only when every reader has the new schema",
    ),
    f"{_APPLICATORS}.2.1",
)
DYNAMIC_REF = both_ways(
    (
        "DYNAMIC_REF_CHANGED",
        "A schema with references that depend on the way to them must stay as it is.",
        "it cannot be shown where the dynamic reference of {where} leads, so it fits only within an unchanged schema",
        "use `$ref` instead",
    ),
    "JSON Schema 2020-12 Core, 8.2.3.2",
    has_witness=False,
)
TOO_COMPLEX = both_ways(
    (
        "COMPARISON_TOO_COMPLEX",
        "Two schemas must be simple enough to be compared.",
        "the two schemas have too many alternatives to be compared, so they cannot be shown to fit",
        "use fewer nested `anyOf` and `oneOf`, or tell their branches apart by `type` or a required constant",
    ),
    "A limit of this implementation",
    has_witness=False,
)
