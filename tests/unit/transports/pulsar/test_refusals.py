import pytest

from tallystick import errors
from tallystick.finding import Finding
from tallystick.transports.pulsar.refusals import findings_in, is_passing, refused_message, translated
from tallystick.wire.pulsar.pulsar_pb2 import ServerError

OURS = (
    "the producer does not fit the schemas of orders: "
    "[AVRO_TYPE_CHANGED] version 3: `a` was int; now it is [string] (fix: keep int (or long)); "
    "[AVRO_FIELD_REMOVED] field `b` is gone (fix: give it a default); and 4 more"
)


def test_findings_of_our_own_broker() -> None:
    assert findings_in(OURS) == [
        Finding(
            rule="AVRO_TYPE_CHANGED", message="`a` was int; now it is [string]", fix="keep int (or long)", version=3
        ),
        Finding(rule="AVRO_FIELD_REMOVED", message="field `b` is gone", fix="give it a default"),
    ]
    assert findings_in("Unable to read schema [A]") == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ServerError.IncompatibleSchema, errors.IncompatibleSchema),
        (ServerError.ProducerBusy, errors.Busy),
        (ServerError.ConsumerBusy, errors.Busy),
        (ServerError.AuthenticationError, errors.Unauthenticated),
        (ServerError.AuthorizationError, errors.Forbidden),
        (ServerError.TopicNotFound, errors.TopicNotFound),
        (ServerError.SubscriptionNotFound, errors.NotFound),
        (ServerError.InvalidTopicName, errors.InvalidArgument),
        (ServerError.NotAllowedError, errors.Unsupported),
        (ServerError.UnsupportedVersionError, errors.Unsupported),
        (ServerError.TopicTerminatedError, errors.NotPermitted),
        (ServerError.ProducerFenced, errors.Closed),
        (ServerError.TooManyRequests, errors.Unavailable),
        (ServerError.ServiceNotReady, errors.Unavailable),
        (ServerError.MetadataError, errors.Unavailable),
        (ServerError.PersistenceError, errors.Unavailable),
        (ServerError.UnknownError, errors.Unavailable),
        (ServerError.ProducerBlockedQuotaExceededError, errors.Unavailable),
    ],
)
def test_every_code_is_an_error_that_names_topic_and_reason(code: ServerError, kind: type) -> None:
    error = translated(code, "because of this", "t://orders")
    assert type(error) is kind
    assert "because of this" in error.message
    assert "t://orders" in error.message
    assert str(error) == error.message


def test_a_code_that_nobody_knows_may_pass() -> None:
    assert "(99)" in translated(99, "new", "t").message
    assert is_passing(translated(99, "new", "t"))


def test_who_was_attached_tries_on_where_another_one_is() -> None:
    assert is_passing(errors.Busy("producer", "it is connected"))
    assert not is_passing(errors.Forbidden("no"))


def test_javas_class_names_are_left_out() -> None:
    text = "org.apache.pulsar.broker.X$YException: a\n  b caused by org.apache.pulsar.Z: a b"
    assert translated(ServerError.ConsumerBusy, "java.lang.IllegalStateException: no", "t").message == "topic t: no"
    assert translated(ServerError.NotAllowedError, text.replace("$Y", ""), "t").message == "topic t: a b"
    assert "no reason" in translated(ServerError.NotAllowedError, " ", "t").message


@pytest.mark.parametrize("code", [ServerError.ChecksumError, ServerError.NotAllowedError])
def test_a_message_that_is_refused(code: ServerError) -> None:
    error = refused_message(code, f"a message to orders does not fit: {OURS}", "orders")
    assert isinstance(error, errors.InvalidRecord)
    assert len(error.findings) == 2


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (ServerError.ChecksumError, "the entry's CRC32-C is 1, but it says 2: it was damaged on its way"),
        (ServerError.ChecksumError, "Checksum failed on the broker"),
        (ServerError.PersistenceError, "no disk"),
    ],
)
def test_a_message_that_is_to_be_sent_again(code: ServerError, text: str) -> None:
    assert refused_message(code, text, "orders") is None


def test_a_topic_that_has_ended() -> None:
    assert isinstance(refused_message(ServerError.TopicTerminatedError, "terminated", "t"), errors.NotPermitted)
