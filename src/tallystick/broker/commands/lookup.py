"""Where topics are, and which there are."""

import hashlib

from tallystick.access import Action, is_allowed
from tallystick.broker import answers
from tallystick.broker.commands.producing import NO_TRANSACTIONS
from tallystick.broker.names import TopicName, topic_name
from tallystick.broker.session import Session
from tallystick.errors import TallystickError, Unsupported
from tallystick.wire.pulsar.pulsar_pb2 import (
    BaseCommand,
    CommandGetTopicsOfNamespace,
    CommandLookupTopic,
    CommandLookupTopicResponse,
    CommandPartitionedTopicMetadata,
    CommandPartitionedTopicMetadataResponse,
    CommandPing,
    CommandPong,
)

_TRANSACTIONS = TopicName("pulsar/system", "transaction_coordinator_assign")
"""What clients ask about first when they want transactions."""


def lookup(session: Session, command: CommandLookupTopic, body: bytes) -> None:
    """Every topic is here."""
    answer = BaseCommand(type=BaseCommand.LOOKUP_RESPONSE)
    response = answer.lookupTopicResponse
    response.request_id = command.request_id
    try:
        session.broker.catalogue.require_namespace(topic_name(command.topic).namespace)
    except TallystickError as e:
        response.response = CommandLookupTopicResponse.Failed
        response.error, response.message = answers.code_of(e), e.message
    else:
        response.response = CommandLookupTopicResponse.Connect
        response.authoritative = True
        if session.is_tls:
            response.brokerServiceUrlTls = f"pulsar+ssl://{session.local_address}"
        response.brokerServiceUrl = f"pulsar://{session.local_address}"
    session.reply(answer)


def partitions(session: Session, command: CommandPartitionedTopicMetadata, body: bytes) -> None:
    answer = BaseCommand(type=BaseCommand.PARTITIONED_METADATA_RESPONSE)
    response = answer.partitionMetadataResponse
    response.request_id = command.request_id
    try:
        name = topic_name(command.topic)
        if name == _TRANSACTIONS:
            raise Unsupported(NO_TRANSACTIONS)
        catalogue = session.broker.catalogue
        catalogue.require_namespace(name.namespace)
        catalogue.require_possible(name)
        if not command.metadata_auto_creation_enabled:
            catalogue.require_topic(name)
    except TallystickError as e:
        response.response = CommandPartitionedTopicMetadataResponse.Failed
        response.error, response.message = answers.code_of(e), e.message
    else:
        response.response = CommandPartitionedTopicMetadataResponse.Success
        response.partitions = catalogue.partitions_of(name) or 0
    session.reply(answer)


def topics(session: Session, command: CommandGetTopicsOfNamespace, body: bytes) -> None:
    """All that the client may see: it applies its pattern itself. Who has them already is told just that."""
    found = _topics(session, command)
    digest = hashlib.blake2b(",".join(found).encode(), digest_size=8).hexdigest()
    answer = BaseCommand(type=BaseCommand.GET_TOPICS_OF_NAMESPACE_RESPONSE)
    response = answer.getTopicsOfNamespaceResponse
    response.request_id = command.request_id
    response.topics_hash = digest
    response.changed = command.topics_hash != digest
    if response.changed:
        response.topics.extend(found)
    session.reply(answer)


def _topics(session: Session, command: CommandGetTopicsOfNamespace) -> list[str]:
    if command.mode == CommandGetTopicsOfNamespace.NON_PERSISTENT:
        return []
    return [
        str(name)
        for name, row in sorted(session.broker.catalogue.topics.items())
        if name.namespace == command.namespace
        and row.partitions is None
        and not name.local.startswith("__")
        and is_allowed(session.caller.principal, Action.READ, str(name.subject))
    ]


def ping(session: Session, command: CommandPing, body: bytes) -> None:
    answer = BaseCommand(type=BaseCommand.PONG)
    answer.pong.SetInParent()
    session.reply(answer)


def pong(session: Session, command: CommandPong, body: bytes) -> None:
    """Hearing it was enough."""
