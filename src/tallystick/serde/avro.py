"""AvroSchema."""

from collections.abc import Mapping
from typing import Any, TypeVar, overload

from tallystick.model.definition import NO_REFERENCES, References
from tallystick.model.schema_type import AVRO
from tallystick.serde import derive
from tallystick.serde.native import NativeSchema
from tallystick.serde.sources import JsonText, definition_of, text_of

T = TypeVar("T")


class AvroSchema(NativeSchema[T]):
    """From Avro text (or what its JSON says), a dataclass or a pydantic model.

    With text, records are dicts. With a class, values are its instances, or dicts, and what is read are its instances;
    the text is made from its fields, in `namespace` where one is given.
    """

    @overload
    def __init__(
        self: "AvroSchema[dict[str, Any]]",
        source: JsonText,
        *,
        references: References = NO_REFERENCES,
        properties: Mapping[str, str] | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self, source: type[T], *, namespace: str | None = None, properties: Mapping[str, str] | None = None
    ) -> None: ...

    def __init__(
        self,
        source: JsonText | type[T],
        *,
        namespace: str | None = None,
        references: References = NO_REFERENCES,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        if derive.is_record_class(source):
            text, conversion = derive.avro(source, namespace)
        else:
            text, conversion = text_of(source, "Avro text, a dataclass or a pydantic model"), None
        super().__init__(
            definition_of(AVRO, text, references, properties), references=references, conversion=conversion
        )
