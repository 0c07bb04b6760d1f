"""Commands and streams of frames for property tests."""

from hypothesis import strategies as st

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.frames import message_frame, simple_frame

NUMBERS = st.integers(0, 2**64 - 1)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
PAIRS = st.lists(st.builds(pb.KeyValue, key=TEXTS, value=TEXTS), max_size=3)

METADATA = st.builds(
    pb.MessageMetadata,
    producer_name=TEXTS,
    sequence_id=NUMBERS,
    publish_time=NUMBERS,
    properties=PAIRS,
    partition_key=st.none() | TEXTS,
    schema_version=st.none() | st.binary(max_size=8),
    num_messages_in_batch=st.none() | st.integers(1, 5),
    event_time=st.none() | NUMBERS,
)
ENTRIES = st.builds(build_entry, METADATA, st.binary(max_size=60))

SIMPLE = st.one_of(
    st.just(pb.BaseCommand(type="PING", ping=pb.CommandPing())),
    st.builds(pb.CommandLookupTopic, topic=TEXTS, request_id=NUMBERS, properties=PAIRS).map(
        lambda content: pb.BaseCommand(type="LOOKUP", lookupTopic=content)
    ),
    st.builds(pb.CommandFlow, consumer_id=NUMBERS, messagePermits=st.integers(0, 2**32 - 1)).map(
        lambda content: pb.BaseCommand(type="FLOW", flow=content)
    ),
    st.builds(
        pb.MessageIdData,
        ledgerId=NUMBERS,
        entryId=NUMBERS,
        ack_set=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
    ).map(
        lambda place: pb.BaseCommand(
            type="ACK", ack=pb.CommandAck(consumer_id=1, ack_type="Individual", message_id=[place])
        )
    ),
)
SENDS = st.builds(pb.CommandSend, producer_id=NUMBERS, sequence_id=NUMBERS).map(
    lambda content: pb.BaseCommand(type="SEND", send=content)
)
FRAMES = st.builds(simple_frame, SIMPLE) | st.builds(message_frame, SENDS, ENTRIES)
STREAMS = st.lists(FRAMES, max_size=6).map(b"".join)


@st.composite
def mutated(draw: st.DrawFn, streams: st.SearchStrategy[bytes]) -> bytes:
    """A stream of which some bytes changed, went or came."""
    data = bytearray(draw(streams))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data)))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


@st.composite
def chunks(draw: st.DrawFn, data: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
