"""A socket that answers as a broker does, just enough for a real client to send and to be sent something."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.frames import Frame, FrameReader, message_frame, simple_frame

Type = pb.BaseCommand.Type


@dataclass
class Conversation:
    """What clients said, and what a consumer is given."""

    deliveries: list[bytes] = field(default_factory=list)
    said: list[Frame] = field(default_factory=list)
    address: str = ""

    def all(self, kind: int) -> list[Frame]:
        return [frame for frame in self.said if frame.command.type == kind]

    def answers(self, command: pb.BaseCommand) -> Iterator[bytes]:
        match command.type:
            case Type.CONNECT:
                connected = pb.CommandConnected(
                    server_version="test", protocol_version=21, max_message_size=5 * 1024 * 1024
                )
                yield _simple("CONNECTED", connected=connected)
            case Type.PARTITIONED_METADATA:
                told = pb.CommandPartitionedTopicMetadataResponse(
                    partitions=0, request_id=command.partitionMetadata.request_id, response="Success"
                )
                yield _simple("PARTITIONED_METADATA_RESPONSE", partitionMetadataResponse=told)
            case Type.LOOKUP:
                found = pb.CommandLookupTopicResponse(
                    brokerServiceUrl=self.address,
                    response="Connect",
                    request_id=command.lookupTopic.request_id,
                    authoritative=True,
                )
                yield _simple("LOOKUP_RESPONSE", lookupTopicResponse=found)
            case Type.PRODUCER:
                success = pb.CommandProducerSuccess(request_id=command.producer.request_id, producer_name="p-1")
                yield _simple("PRODUCER_SUCCESS", producer_success=success)
            case Type.SEND:
                receipt = pb.CommandSendReceipt(
                    producer_id=command.send.producer_id,
                    sequence_id=command.send.sequence_id,
                    message_id=pb.MessageIdData(ledgerId=1, entryId=command.send.sequence_id),
                )
                yield _simple("SEND_RECEIPT", send_receipt=receipt)
            case Type.SUBSCRIBE:
                yield _success(command.subscribe.request_id)
            case Type.FLOW:
                yield from self._delivered(command.flow.consumer_id)
            case Type.CLOSE_PRODUCER:
                yield _success(command.close_producer.request_id)
            case Type.CLOSE_CONSUMER:
                yield _success(command.close_consumer.request_id)
            case Type.PING:
                yield _simple("PONG", pong=pb.CommandPong())

    def _delivered(self, consumer_id: int) -> Iterator[bytes]:
        for number, entry in enumerate(self.deliveries):
            message = pb.CommandMessage(
                consumer_id=consumer_id, message_id=pb.MessageIdData(ledgerId=1, entryId=number)
            )
            yield message_frame(pb.BaseCommand(type="MESSAGE", message=message), entry)
        self.deliveries.clear()


def _simple(kind: str, **content: Any) -> bytes:
    return simple_frame(pb.BaseCommand(type=kind, **content))


def _success(request_id: int) -> bytes:
    return _simple("SUCCESS", success=pb.CommandSuccess(request_id=request_id))


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


@contextmanager
def answering(conversation: Conversation) -> Iterator[str]:
    """The service URL of a server that holds this conversation."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            talk: socket.socket = self.request
            reader = FrameReader()
            while data := talk.recv(65536):
                for frame in reader.feed(data):
                    conversation.said.append(frame)
                    for answer in conversation.answers(frame.command):
                        talk.sendall(answer)

    with _Server(("127.0.0.1", 0), Handler) as server:
        conversation.address = f"pulsar://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield conversation.address
        finally:
            server.shutdown()
            serving.join()
