"""The fields of dataclasses and pydantic models."""

import dataclasses
import inspect
import sys
import typing
from typing import Any, NamedTuple, TypeGuard

from tallystick.errors import InvalidSchema
from tallystick.serde.derive.defaults import default_of
from tallystick.serde.derive.faults import At
from tallystick.serde.derive.shapes import NO_DEFAULT


class RawField(NamedTuple):
    name: str
    key: str
    hint: Any
    metadata: tuple[Any, ...]
    default: Any
    doc: str | None = None


def is_model(cls: type) -> bool:
    """Whether it is a pydantic model. There is none before pydantic is loaded, so it is never loaded for this."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(cls, pydantic.BaseModel)


def is_record_class(cls: object) -> TypeGuard[type[Any]]:
    return isinstance(cls, type) and (dataclasses.is_dataclass(cls) or is_model(cls))


def raw_fields(cls: type) -> list[RawField]:
    return _model_fields(cls) if is_model(cls) else _dataclass_fields(cls)


def doc_of(cls: type) -> str | None:
    """The docstring that somebody wrote: a dataclass without one gets its signature."""
    doc = cls.__dict__.get("__doc__")
    if not doc or (dataclasses.is_dataclass(cls) and doc.startswith(f"{cls.__name__}(")):
        return None
    return inspect.cleandoc(doc)


def _dataclass_fields(cls: Any) -> list[RawField]:
    hints = _hints(cls)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    _refuse_other_arguments(cls, {field.name for field in fields})
    return [RawField(field.name, field.name, hints[field.name], (), _dataclass_default(field)) for field in fields]


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True)
    except NameError as e:
        raise _unknown_name(cls, e) from e


def _unknown_name(cls: type, error: NameError) -> InvalidSchema:
    reason = f"its types name {error.name!r}, which its module does not have"
    return At(cls).underivable(reason, "define it at the top level of that module, before the schema is made")


def _refuse_other_arguments(cls: type, names: set[str]) -> None:
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name not in names and parameter.default is parameter.empty:
            raise At(cls, parameter.name).underivable(
                "the class asks for it, but does not keep it as a field, so that it cannot be made again",
                "keep it as a field, or give it a default",
            )


def _dataclass_default(field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    factory = field.default_factory
    return NO_DEFAULT if factory is dataclasses.MISSING else default_of(factory)


def _model_fields(cls: Any) -> list[RawField]:
    if cls.model_config.get("extra") == "allow":
        raise At(cls).underivable("it takes fields that it does not name", 'let extra be "ignore" or "forbid"')
    try:
        cls.model_rebuild()
    except NameError as e:
        raise _unknown_name(cls, e) from e
    return [_model_field(cls, name, info) for name, info in cls.model_fields.items()]


def _model_field(cls: type, name: str, info: Any) -> RawField:
    others = {alias for alias in (info.validation_alias, info.serialization_alias) if alias is not None}
    if others - {info.alias}:
        raise At(cls, name).underivable("it is read by one name and written by another", "give it one alias for both")
    return RawField(
        name, info.alias or name, info.annotation, tuple(info.metadata), _model_default(info), info.description
    )


def _model_default(info: Any) -> Any:
    if info.is_required():
        return NO_DEFAULT
    if info.default_factory is None:
        return info.default
    return NO_DEFAULT if info.default_factory_takes_validated_data else default_of(info.default_factory)
