package scripts;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.schema.Field;
import org.apache.pulsar.client.api.schema.GenericRecord;
import org.apache.pulsar.common.schema.KeyValue;

/** Messages as plain values, without what differs from run to run. */
final class Received {
    private Received() {}

    static <T> Message<T> one(Consumer<T> consumer) throws PulsarClientException {
        Message<T> message = consumer.receive(10, TimeUnit.SECONDS);
        if (message == null) {
            throw new PulsarClientException.TimeoutException("no message within 10 s");
        }
        return message;
    }

    static <T> List<String> values(Consumer<T> consumer, int count) throws PulsarClientException {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Message<T> message = one(consumer);
            values.add(text(message.getValue()));
            consumer.acknowledge(message);
        }
        return values;
    }

    /** What comes until nothing comes for so long; all acknowledged. */
    static <T> List<String> rest(Consumer<T> consumer, int quietMillis) throws PulsarClientException {
        List<String> values = new ArrayList<>();
        Message<T> message;
        while ((message = consumer.receive(quietMillis, TimeUnit.MILLISECONDS)) != null) {
            values.add(text(message.getValue()));
            consumer.acknowledge(message);
        }
        return values;
    }

    static String text(Object value) {
        if (value instanceof byte[] bytes) {
            return new String(bytes);
        }
        if (value instanceof KeyValue<?, ?> pair) {
            return text(pair.getKey()) + "=" + text(pair.getValue());
        }
        if (value instanceof GenericRecord record) {
            return generic(record);
        }
        return String.valueOf(value);
    }

    private static String generic(GenericRecord record) {
        if (record.getNativeObject() instanceof KeyValue<?, ?> pair) {
            return text(pair);
        }
        if (record.getFields() == null) {
            return text(record.getNativeObject());
        }
        Map<String, String> fields = new LinkedHashMap<>();
        for (Field field : record.getFields()) {
            fields.put(field.getName(), text(record.getField(field)));
        }
        return record.getSchemaType() + fields.toString();
    }

    /** Null without a schema. */
    static Long version(Message<?> message) {
        byte[] version = message.getSchemaVersion();
        return version == null || version.length != Long.BYTES ? null : ByteBuffer.wrap(version).getLong();
    }

    /** Entry, and place in its batch; the ledger's number differs from server to server. */
    static String place(MessageId id) {
        MessageIdAdv detailed = (MessageIdAdv) id;
        return detailed.getEntryId() + ":" + detailed.getBatchIndex() + "/" + detailed.getBatchSize();
    }
}
