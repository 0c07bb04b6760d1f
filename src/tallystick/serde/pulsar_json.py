"""PulsarJsonSchema."""

from collections.abc import Mapping
from typing import Any, TypeVar, overload

from tallystick.model.schema_type import PULSAR_JSON
from tallystick.serde import derive
from tallystick.serde.native import NativeSchema
from tallystick.serde.sources import JsonText, definition_of, text_of

T = TypeVar("T")


class PulsarJsonSchema(NativeSchema[T]):
    """JSON payloads that Avro text describes: what Pulsar's own clients call their JSON schema.

    From Avro text (or what its JSON says), a dataclass or a pydantic model, as `AvroSchema` is.
    """

    @overload
    def __init__(
        self: "PulsarJsonSchema[dict[str, Any]]", source: JsonText, *, properties: Mapping[str, str] | None = None
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
        properties: Mapping[str, str] | None = None,
    ) -> None:
        if derive.is_record_class(source):
            text, conversion = derive.avro(source, namespace)
        else:
            text, conversion = text_of(source, "Avro text, a dataclass or a pydantic model"), None
        super().__init__(definition_of(PULSAR_JSON, text, properties=properties), conversion=conversion)
