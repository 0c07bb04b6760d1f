package scripts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.schema.GenericRecord;

/** Several versions on one topic: a schema for each message, unchecked bytes made checked, batches. */
final class ManySchemas {
    private ManySchemas() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("multi-schema", ManySchemas::multiSchema);
        scripts.put("multi-schema-refused", ManySchemas::multiSchemaRefused);
        scripts.put("batch-of-schemas", ManySchemas::batchOfSchemas);
        scripts.put("auto-produce", ManySchemas::autoProduce);
        scripts.put("evolution", ManySchemas::evolution);
    }

    private static Consumer<GenericRecord> generic(Server server, String topic) throws Exception {
        return server.client.newConsumer(Schema.AUTO_CONSUME()).topic(topic).subscriptionName("auto")
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
    }

    private static void multiSchema(Server server, Steps steps) throws Exception {
        String topic = server.topic("multi");
        try (Producer<byte[]> producer = server.client.newProducer().topic(topic).enableBatching(false).create()) {
            producer.newMessage(Records.avro(Records.Order.class)).value(new Records.Order(1, "a")).send();
            producer.newMessage(Records.avro(Records.Second.Order.class)).value(new Records.Second.Order(2, "b", "n")).send();
            producer.newMessage(Records.avro(Records.Order.class)).value(new Records.Order(3, "c")).send();
        }
        try (Consumer<GenericRecord> consumer = generic(server, topic)) {
            for (int i = 0; i < 3; i++) {
                Message<GenericRecord> message = Received.one(consumer);
                steps.say("message", List.of(Received.text(message.getValue()), "" + Received.version(message)));
            }
        }
    }

    private static void multiSchemaRefused(Server server, Steps steps) throws Exception {
        String topic = server.topic("multi-refused");
        try (var producer = server.client.newProducer(Records.avro(Records.Order.class)).topic(topic).create()) {
            producer.send(new Records.Order(1, "a"));
            steps.attempt("a schema that does not fit", () -> {
                producer.newMessage(Records.avro(Records.Foreign.Order.class)).value(new Records.Foreign.Order()).send();
                return "sent";
            });
            steps.attempt("the next message", () -> {
                producer.send(new Records.Order(2, "b"));
                return "sent";
            });
        }
        try (var consumer = generic(server, topic)) {
            steps.say("kept", Received.rest(consumer, 1000));
        }
    }

    private static void batchOfSchemas(Server server, Steps steps) throws Exception {
        String topic = server.topic("batch-of-schemas");
        List<CompletableFuture<?>> sent = new ArrayList<>();
        try (Producer<byte[]> producer = server.client.newProducer().topic(topic).enableBatching(true)
                .batchingMaxPublishDelay(200, TimeUnit.MILLISECONDS).create()) {
            for (int i = 0; i < 6; i++) {
                sent.add(i % 3 == 2
                        ? producer.newMessage(Records.avro(Records.Second.Order.class)).value(new Records.Second.Order(i, "x", "n")).sendAsync()
                        : producer.newMessage(Records.avro(Records.Order.class)).value(new Records.Order(i, "x")).sendAsync());
            }
            for (CompletableFuture<?> one : sent) {
                one.get(10, TimeUnit.SECONDS);
            }
        }
        try (Consumer<GenericRecord> consumer = generic(server, topic)) {
            for (int i = 0; i < 6; i++) {
                Message<GenericRecord> message = Received.one(consumer);
                steps.say("message", List.of(Received.text(message.getValue()), "" + Received.version(message)));
            }
        }
    }

    private static void autoProduce(Server server, Steps steps) throws Exception {
        String topic = server.topic("auto-produce");
        Schema<Records.Order> schema = Records.avro(Records.Order.class);
        server.client.newProducer(schema).topic(topic).create().close();
        try (Producer<byte[]> producer = server.client.newProducer(Schema.AUTO_PRODUCE_BYTES()).topic(topic).create();
                Consumer<Records.Order> consumer = server.client.newConsumer(schema).topic(topic).subscriptionName("s").subscribe()) {
            producer.send(schema.encode(new Records.Order(1, "a")));
            steps.say("good bytes", Received.values(consumer, 1));
            steps.attempt("bytes of no order", () -> {
                producer.send(new byte[] {1});
                return "sent";
            });
        }
        steps.attempt("a topic without schema", () -> {
            try (Producer<byte[]> producer =
                    server.client.newProducer(Schema.AUTO_PRODUCE_BYTES()).topic(server.topic("auto-bare")).create()) {
                producer.send("bare".getBytes());
                return "sent";
            }
        });
    }

    private static void evolution(Server server, Steps steps) throws Exception {
        String topic = server.topic("evolution");
        try (var older = server.client.newProducer(Records.avro(Records.Order.class)).topic(topic).create()) {
            older.send(new Records.Order(1, "a"));
            try (var newer = server.client.newProducer(Records.avro(Records.Second.Order.class)).topic(topic).create()) {
                newer.send(new Records.Second.Order(2, "b", "n"));
                older.send(new Records.Order(3, "c"));
            }
        }
        try (var reader = server.client.newConsumer(Records.avro(Records.Second.Order.class)).topic(topic).subscriptionName("newer")
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe()) {
            steps.say("read as the newer", Received.values(reader, 3));
        }
        try (var reader = server.client.newConsumer(Records.avro(Records.Order.class)).topic(topic).subscriptionName("older")
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe()) {
            steps.say("read as the older", Received.values(reader, 3));
        }
    }
}
