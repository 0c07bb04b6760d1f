"""Schemas on the wire: get one, or get a version for one (PIP-43)."""

from tallystick.access import Action
from tallystick.broker import answers
from tallystick.broker.names import topic_name
from tallystick.broker.session import Session
from tallystick.errors import TallystickError
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand, CommandGetOrCreateSchema, CommandGetSchema
from tallystick.wire.pulsar.schemas import version_bytes


async def get(session: Session, command: CommandGetSchema, body: bytes) -> None:
    answer = BaseCommand(type=BaseCommand.GET_SCHEMA_RESPONSE)
    response = answer.getSchemaResponse
    response.request_id = command.request_id
    try:
        name = topic_name(command.topic)
        version = command.schema_version if command.HasField("schema_version") else None
        schema, found = await session.schemas.get(session.caller, name, version)
    except TallystickError as e:
        response.error_code, response.error_message = answers.code_of(e), e.message
    else:
        response.schema.CopyFrom(schema)
        response.schema_version = version_bytes(found)
    session.reply(answer)


async def get_or_create(session: Session, command: CommandGetOrCreateSchema, body: bytes) -> None:
    answer = BaseCommand(type=BaseCommand.GET_OR_CREATE_SCHEMA_RESPONSE)
    response = answer.getOrCreateSchemaResponse
    response.request_id = command.request_id
    try:
        name = topic_name(command.topic)
        session.require(Action.PRODUCE, name)
        session.broker.catalogue.require_topic(name)
        version = await session.schemas.attach_producer(session.caller, name, command.schema)
    except TallystickError as e:
        response.error_code, response.error_message = answers.code_of(e), e.message
    else:
        response.schema_version = version_bytes(version) if version is not None else b""
    session.reply(answer)
