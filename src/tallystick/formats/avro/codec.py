"""Avro values to bytes and back: by functions compiled for a schema, and by the general codec where those give up."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tallystick.formats.avro import compiled, general
from tallystick.formats.avro.types import AvroSchema, AvroType


def encode(schema: AvroSchema, value: object) -> bytes:
    return _encoder(schema.root)(value)


def decode(schema: AvroSchema, payload: bytes, reader: AvroSchema | None = None) -> Any:
    return decoder_of(schema, reader)(payload)


def encoder_of(schema: AvroSchema) -> Callable[[object], bytes]:
    return _encoder(schema.root)


def decoder_of(schema: AvroSchema, reader: AvroSchema | None = None) -> Callable[[bytes], Any]:
    return _decoder(schema.root, schema.root if reader is None else reader.root)


@lru_cache(maxsize=1024)
def _encoder(root: AvroType) -> Callable[[object], bytes]:
    write = compiled.writer_of(root)

    def encode(value: object) -> bytes:
        try:
            return write(value)
        except compiled.MISFITS:
            return general.writer_of(root)(value)

    return encode


@lru_cache(maxsize=1024)
def _decoder(root: AvroType, target: AvroType) -> Callable[[bytes], Any]:
    read = compiled.reader_of(root, target)
    if read is None:
        return general.reader_of(root, target)

    def decode(payload: bytes) -> Any:
        try:
            return read(payload)
        except compiled.MISFITS:
            return general.reader_of(root, target)(payload)

    return decode
