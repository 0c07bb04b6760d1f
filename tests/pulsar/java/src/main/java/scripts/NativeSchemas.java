package scripts;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.schema.GenericRecord;
import org.apache.pulsar.common.schema.KeyValue;
import org.apache.pulsar.common.schema.KeyValueEncodingType;

/** One schema a topic. */
final class NativeSchemas {
    private NativeSchemas() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("tutorial", NativeSchemas::tutorial);
        scripts.put("avro", (server, steps) -> orders(server, steps, "avro", Records.avro(Records.Order.class)));
        scripts.put("json", (server, steps) -> orders(server, steps, "json", Schema.JSON(Records.Order.class)));
        scripts.put("key-value-inline", (server, steps) -> pairs(server, steps, KeyValueEncodingType.INLINE));
        scripts.put("key-value-separated", (server, steps) -> pairs(server, steps, KeyValueEncodingType.SEPARATED));
        scripts.put("primitives", NativeSchemas::primitives);
        scripts.put("external", NativeSchemas::external);
    }

    /** The first page of the Java client's documentation: a producer, a consumer, "my-topic", "my-subscription". */
    private static void tutorial(Server server, Steps steps) throws Exception {
        PulsarClient client = PulsarClient.builder().serviceUrl(server.serviceUrl).build();
        Consumer<byte[]> consumer = client.newConsumer().topic("my-topic").subscriptionName("my-subscription").subscribe();
        Producer<byte[]> producer = client.newProducer().topic("my-topic").create();
        producer.send("My message".getBytes());
        Producer<String> texts = client.newProducer(Schema.STRING).topic("my-second-topic").create();
        texts.send("My message");
        Message<byte[]> message = consumer.receive();
        steps.say("Message received", new String(message.getData()));
        consumer.acknowledge(message);
        producer.close();
        texts.close();
        consumer.close();
        client.close();
    }

    private static void orders(Server server, Steps steps, String name, Schema<Records.Order> schema) throws Exception {
        String topic = server.topic("orders-" + name);
        try (Consumer<Records.Order> consumer = server.client.newConsumer(schema).topic(topic).subscriptionName("s").subscribe();
                Producer<Records.Order> producer = server.client.newProducer(schema).topic(topic).create()) {
            for (int i = 0; i < 5; i++) {
                producer.newMessage().key("k" + i).property("n", "" + i).eventTime(1000 + i)
                        .value(new Records.Order(i, i == 3 ? null : "item" + i)).send();
            }
            for (int i = 0; i < 5; i++) {
                Message<Records.Order> message = Received.one(consumer);
                steps.say("message", List.of(message.getValue().toString(), message.getKey(), message.getProperties(),
                        message.getEventTime(), message.getSequenceId(), "" + Received.version(message),
                        Received.place(message.getMessageId())));
                consumer.acknowledge(message);
            }
        }
        generic(server, steps, topic, 5);
    }

    private static void generic(Server server, Steps steps, String topic, int count) throws Exception {
        try (Consumer<GenericRecord> consumer = server.client.newConsumer(Schema.AUTO_CONSUME()).topic(topic)
                .subscriptionName("auto").subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe()) {
            steps.say("AUTO_CONSUME", Received.values(consumer, count));
        }
    }

    private static void pairs(Server server, Steps steps, KeyValueEncodingType encoding) throws Exception {
        Schema<KeyValue<String, Records.Order>> schema =
                Schema.KeyValue(Schema.STRING, Records.avro(Records.Order.class), encoding);
        String topic = server.topic("pairs-" + encoding.name().toLowerCase());
        try (var consumer = server.client.newConsumer(schema).topic(topic).subscriptionName("s").subscribe();
                var producer = server.client.newProducer(schema).topic(topic).create()) {
            producer.send(new KeyValue<>("one", new Records.Order(1, "a")));
            producer.send(new KeyValue<>("two", null));
            producer.send(new KeyValue<>("three", new Records.Order(3, "c")));
            for (int i = 0; i < 3; i++) {
                var message = Received.one(consumer);
                steps.say("pair", List.of(Received.text(message.getValue()), message.hasKey(), "" + Received.version(message)));
                consumer.acknowledge(message);
            }
        }
        steps.attempt("the other encoding", () -> {
            var other = encoding == KeyValueEncodingType.INLINE ? KeyValueEncodingType.SEPARATED : KeyValueEncodingType.INLINE;
            server.client.newProducer(Schema.KeyValue(Schema.STRING, Records.avro(Records.Order.class), other))
                    .topic(topic).create().close();
            return "let in";
        });
        generic(server, steps, topic, 3);
    }

    private static void primitives(Server server, Steps steps) throws Exception {
        primitive(server, steps, "string", Schema.STRING, "text");
        primitive(server, steps, "int32", Schema.INT32, 7);
        primitive(server, steps, "int64", Schema.INT64, 7L);
        primitive(server, steps, "double", Schema.DOUBLE, 1.5);
        primitive(server, steps, "boolean", Schema.BOOL, true);
        primitive(server, steps, "bytes", Schema.BYTES, "raw".getBytes());
        primitive(server, steps, "instant", Schema.INSTANT, java.time.Instant.ofEpochSecond(5));
    }

    private static <T> void primitive(Server server, Steps steps, String name, Schema<T> schema, T value) throws Exception {
        String topic = server.topic("primitive-" + name);
        try (Consumer<T> consumer = server.client.newConsumer(schema).topic(topic).subscriptionName("s").subscribe();
                Producer<T> producer = server.client.newProducer(schema).topic(topic).create()) {
            producer.send(value);
            steps.say(name, Received.values(consumer, 1));
        }
    }

    private static void external(Server server, Steps steps) throws Exception {
        Schema<String> schema = new ExternalTexts();
        String topic = server.topic("external");
        List<MessageId> sent = new ArrayList<>();
        try (Consumer<String> consumer = server.client.newConsumer(schema).topic(topic).subscriptionName("s").subscribe();
                Producer<String> producer = server.client.newProducer(schema).topic(topic).enableBatching(false).create()) {
            for (String text : List.of("1:a", "2:b", "1:c")) {
                sent.add(producer.send(text));
            }
            for (int i = 0; i < sent.size(); i++) {
                Message<String> message = Received.one(consumer);
                byte[] id = message.getSchemaId().orElse(new byte[0]);
                steps.say("message", List.of(message.getValue(), HexFormat.of().formatHex(id)));
                consumer.acknowledge(message);
            }
        }
        steps.attempt("an Avro producer", () -> {
            server.client.newProducer(Records.avro(Records.Order.class)).topic(topic).create().close();
            return "let in";
        });
    }
}
