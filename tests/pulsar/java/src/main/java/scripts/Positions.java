package scripts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.ReaderBuilder;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;

/** Readers, seeks, and the end of a topic. */
final class Positions {
    private Positions() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("reader", Positions::reader);
        scripts.put("seek", Positions::seek);
        scripts.put("last-message-id", Positions::lastMessageId);
        scripts.put("table-view", Positions::tableView);
    }

    private static List<MessageId> send(Server server, String topic, int count, boolean isBatched) throws Exception {
        List<MessageId> ids = new ArrayList<>();
        try (Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic).enableBatching(isBatched)
                .batchingMaxPublishDelay(300, TimeUnit.MILLISECONDS).create()) {
            var sent = new ArrayList<java.util.concurrent.CompletableFuture<MessageId>>();
            for (int i = 0; i < count; i++) {
                sent.add(producer.newMessage().key("k" + i % 2).value("m" + i).sendAsync());
            }
            for (var one : sent) {
                ids.add(one.get(10, TimeUnit.SECONDS));
            }
        }
        return ids;
    }

    private static List<String> read(ReaderBuilder<String> builder) throws Exception {
        try (Reader<String> reader = builder.create()) {
            List<String> values = new ArrayList<>();
            while (reader.hasMessageAvailable()) {
                values.add(reader.readNext(10, TimeUnit.SECONDS).getValue());
            }
            return values;
        }
    }

    private static void reader(Server server, Steps steps) throws Exception {
        String topic = server.topic("reader");
        List<MessageId> ids = send(server, topic, 5, false);
        ids.addAll(send(server, topic, 3, true));
        steps.say("places", ids.stream().map(Received::place).toList());
        steps.say("from the earliest", read(readers(server, topic).startMessageId(MessageId.earliest)));
        steps.say("from the latest", read(readers(server, topic).startMessageId(MessageId.latest)));
        steps.say("after the third", read(readers(server, topic).startMessageId(ids.get(2))));
        steps.say("from the third", read(readers(server, topic).startMessageId(ids.get(2)).startMessageIdInclusive()));
        steps.say("inside the batch", read(readers(server, topic).startMessageId(ids.get(6)).startMessageIdInclusive()));
        steps.say("the last one", read(readers(server, topic).startMessageId(MessageId.latest).startMessageIdInclusive()));
        try (Reader<String> reader = readers(server, topic).startMessageId(MessageId.latest).create()) {
            steps.say("available at the end", reader.hasMessageAvailable());
            send(server, topic, 1, false);
            steps.say("after one more", reader.readNext(10, TimeUnit.SECONDS).getValue());
            reader.seek(ids.get(3));
            steps.say("after a seek", reader.readNext(10, TimeUnit.SECONDS).getValue());
        }
    }

    private static ReaderBuilder<String> readers(Server server, String topic) {
        return server.client.newReader(Schema.STRING).topic(topic);
    }

    private static Consumer<String> consumer(Server server, String topic) throws Exception {
        return server.client.newConsumer(Schema.STRING).topic(topic).subscriptionName("s")
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe();
    }

    private static void seek(Server server, Steps steps) throws Exception {
        String topic = server.topic("seek");
        List<MessageId> ids = send(server, topic, 3, false);
        Thread.sleep(300);
        long between = System.currentTimeMillis();
        Thread.sleep(300);
        ids.addAll(send(server, topic, 3, false));
        try (Consumer<String> consumer = consumer(server, topic)) {
            steps.say("all", Received.values(consumer, 6));
            consumer.seek(ids.get(4));
            steps.say("by id", Received.rest(consumer, 1000));
            consumer.seek(between);
            steps.say("by time", Received.rest(consumer, 1000));
            consumer.seek(MessageId.earliest);
            steps.say("earliest", Received.rest(consumer, 1000));
            consumer.seek(MessageId.latest);
            steps.say("latest", Received.rest(consumer, 500));
            consumer.seek(1L);
            steps.say("time long ago", Received.rest(consumer, 1000));
            consumer.seek(System.currentTimeMillis() + 60_000);
            steps.say("time to come", Received.rest(consumer, 500));
        }
        String batched = server.topic("seek-batch");
        List<MessageId> inBatch = send(server, batched, 5, true);
        try (Consumer<String> consumer = consumer(server, batched)) {
            Received.values(consumer, 5);
            consumer.seek(inBatch.get(2));
            steps.say("into a batch", Received.rest(consumer, 1000));
        }
    }

    private static void lastMessageId(Server server, Steps steps) throws Exception {
        String topic = server.topic("last");
        try (Consumer<String> consumer = consumer(server, topic)) {
            steps.say("empty", Received.place(consumer.getLastMessageIds().get(0)));
            send(server, topic, 2, false);
            steps.say("after two", Received.place(consumer.getLastMessageIds().get(0)));
            send(server, topic, 3, true);
            steps.say("after a batch", Received.place(consumer.getLastMessageIds().get(0)));
            Received.values(consumer, 5);
            steps.say("when all is acknowledged", Received.place(consumer.getLastMessageIds().get(0)));
        }
    }

    private static void tableView(Server server, Steps steps) throws Exception {
        String topic = server.topic("table");
        send(server, topic, 5, false);
        try (var view = server.client.newTableView(Schema.STRING).topic(topic).create()) {
            steps.say("rows", new java.util.TreeMap<>(Map.of("k0", view.get("k0"), "k1", view.get("k1"))));
            steps.say("size", view.size());
        }
    }
}
