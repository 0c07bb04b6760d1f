"""pydantic's own JSON Schema of a model, and its own JSON of values."""

import json
from typing import Any, TypeVar

from tallystick.serde.conversion import Conversion
from tallystick.serde.derive.json_schema import DIALECT

T = TypeVar("T")


def model_text(cls: Any) -> str:
    return json.dumps({"$schema": DIALECT, **cls.model_json_schema()}, ensure_ascii=False)


def model_conversion(cls: type[T]) -> Conversion[T]:
    model: Any = cls

    def to_plain(value: Any) -> Any:
        return value.model_dump(mode="json", by_alias=True) if isinstance(value, model) else value

    def from_json(value: Any) -> Any:
        return model.model_validate_json(json.dumps(value))

    # A strict model takes a date as text from JSON alone.
    return Conversion(cls, to_plain, from_json if model.model_config.get("strict") else model.model_validate)
