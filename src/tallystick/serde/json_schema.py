"""JsonSchema."""

from collections.abc import Mapping
from typing import Any, TypeVar, overload

from tallystick.model.definition import NO_REFERENCES, References
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.serde import derive
from tallystick.serde.native import NativeSchema
from tallystick.serde.sources import JsonText, definition_of, text_of

T = TypeVar("T")


class JsonSchema(NativeSchema[T]):
    """From JSON Schema (text, or what it says), a dataclass or a pydantic model.

    With text, values are what `json` makes of a payload. With a class, values are its instances, or what their JSON
    says, and what is read are its instances. The schema and the JSON of a model are pydantic's own.
    """

    @overload
    def __init__(
        self: "JsonSchema[dict[str, Any]]",
        source: JsonText,
        *,
        references: References = NO_REFERENCES,
        properties: Mapping[str, str] | None = None,
    ) -> None: ...

    @overload
    def __init__(self, source: type[T], *, properties: Mapping[str, str] | None = None) -> None: ...

    def __init__(
        self,
        source: JsonText | type[T],
        *,
        references: References = NO_REFERENCES,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        if derive.is_record_class(source):
            text, conversion = derive.json_schema(source)
        else:
            text, conversion = text_of(source, "a JSON Schema, a dataclass or a pydantic model"), None
        super().__init__(
            definition_of(JSON_SCHEMA, text, references, properties), references=references, conversion=conversion
        )
