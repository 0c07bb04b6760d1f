"""The drafts of JSON Schema, and what tells them apart."""

from dataclasses import dataclass

import jsonschema_rs

from tallystick.errors import InvalidSchema
from tallystick.finding import Place

PATTERN_OPTIONS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
"""Look-around needs an engine that goes back; the limit ends a search that would not end by itself."""


@dataclass(frozen=True, slots=True)
class Draft:
    number: int
    uri: str
    validator: type[jsonschema_rs.Validator]

    @property
    def id_keyword(self) -> str:
        return "id" if self.number == 4 else "$id"

    @property
    def ref_stands_alone(self) -> bool:
        """Whether the keywords beside `$ref` are passed over."""
        return self.number <= 7

    @property
    def asserts_content(self) -> bool:
        """Whether `contentEncoding` and `contentMediaType` refuse values."""
        return self.number in (6, 7)


DRAFT_4 = Draft(4, "http://json-schema.org/draft-04/schema#", jsonschema_rs.Draft4Validator)
DRAFT_6 = Draft(6, "http://json-schema.org/draft-06/schema#", jsonschema_rs.Draft6Validator)
DRAFT_7 = Draft(7, "http://json-schema.org/draft-07/schema#", jsonschema_rs.Draft7Validator)
DRAFT_2019_09 = Draft(2019, "https://json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator)
DRAFT_2020_12 = Draft(2020, "https://json-schema.org/draft/2020-12/schema", jsonschema_rs.Draft202012Validator)

DRAFTS = (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12)
DEFAULT_DRAFT = DRAFT_7


def draft_of(uri: str, place: Place) -> Draft:
    """The draft that `$schema` names, or `InvalidSchema`."""
    for draft in DRAFTS:
        if _bare(draft.uri) == _bare(uri):
            return draft
    raise InvalidSchema(
        f"`$schema` names {uri!r}, which is no draft from 4 to 2020-12",
        place,
        f"use one of {', '.join(draft.uri for draft in DRAFTS)}",
    )


def _bare(uri: str) -> str:
    return uri.removesuffix("#").removeprefix("https://").removeprefix("http://")
