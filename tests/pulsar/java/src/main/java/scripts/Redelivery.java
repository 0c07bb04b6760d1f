package scripts;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.ConsumerBuilder;
import org.apache.pulsar.client.api.DeadLetterPolicy;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/** What comes again, and how often. */
final class Redelivery {
    private Redelivery() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("negative-ack", Redelivery::negativeAck);
        scripts.put("ack-timeout", Redelivery::ackTimeout);
        scripts.put("dead-letter", Redelivery::deadLetter);
        scripts.put("retry-letter", Redelivery::retryLetter);
        scripts.put("batch-index-ack", Redelivery::batchIndexAck);
        scripts.put("delayed", Redelivery::delayed);
    }

    private static ConsumerBuilder<String> shared(Server server, String topic) {
        return server.client.newConsumer(Schema.STRING).topic(topic).subscriptionName("s")
                .subscriptionType(SubscriptionType.Shared)
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                .negativeAckRedeliveryDelay(100, TimeUnit.MILLISECONDS);
    }

    private static void send(Server server, String topic, String... values) throws Exception {
        try (Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic).enableBatching(false).create()) {
            for (String value : values) {
                producer.send(value);
            }
        }
    }

    private static List<String> counts(Consumer<String> consumer, int times, boolean refusing) throws Exception {
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            Message<String> message = Received.one(consumer);
            seen.add(message.getValue() + " " + message.getRedeliveryCount());
            if (refusing) {
                consumer.negativeAcknowledge(message);
            }
        }
        return seen;
    }

    private static void negativeAck(Server server, Steps steps) throws Exception {
        String topic = server.topic("negative");
        send(server, topic, "x");
        try (Consumer<String> consumer = shared(server, topic).subscribe()) {
            steps.say("counts", counts(consumer, 4, true));
        }
        String exclusive = server.topic("negative-exclusive");
        send(server, exclusive, "a", "b");
        try (Consumer<String> consumer = shared(server, exclusive).subscriptionType(SubscriptionType.Exclusive).subscribe()) {
            Message<String> first = Received.one(consumer);
            Received.one(consumer);
            consumer.negativeAcknowledge(first);
            steps.say("exclusive: all that is not acknowledged", counts(consumer, 2, false));
        }
    }

    private static void ackTimeout(Server server, Steps steps) throws Exception {
        String topic = server.topic("ack-timeout");
        send(server, topic, "x");
        try (Consumer<String> consumer = shared(server, topic).ackTimeout(1, TimeUnit.SECONDS).subscribe()) {
            steps.say("counts", counts(consumer, 2, false));
        }
    }

    private static void deadLetter(Server server, Steps steps) throws Exception {
        String topic = server.topic("dead");
        DeadLetterPolicy policy = DeadLetterPolicy.builder().maxRedeliverCount(2).initialSubscriptionName("kept").build();
        send(server, topic, "poison", "poison2");
        try (Consumer<String> consumer = shared(server, topic).deadLetterPolicy(policy).subscribe();
                Consumer<String> letters = server.client.newConsumer(Schema.STRING).topic(topic + "-s-DLQ")
                        .subscriptionName("letters").subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe()) {
            List<String> seen = counts(consumer, 6, true);
            seen.sort(null);
            steps.say("deliveries", seen);
            List<String> dead = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Message<String> letter = Received.one(letters);
                dead.add(letter.getValue() + " " + letter.getProperty("REAL_TOPIC").endsWith("-dead"));
            }
            dead.sort(null);
            steps.say("dead letters", dead);
        }
    }

    private static void retryLetter(Server server, Steps steps) throws Exception {
        String topic = server.topic("retry");
        send(server, topic, "again");
        try (Consumer<String> consumer = shared(server, topic).enableRetry(true)
                .deadLetterPolicy(DeadLetterPolicy.builder().maxRedeliverCount(5).build()).subscribe()) {
            consumer.reconsumeLater(Received.one(consumer), 200, TimeUnit.MILLISECONDS);
            Message<String> again = Received.one(consumer);
            steps.say("came again", List.of(again.getValue(), again.getProperty("RECONSUMETIMES")));
            consumer.acknowledge(again);
        }
    }

    private static void batchIndexAck(Server server, Steps steps) throws Exception {
        String topic = server.topic("batch-index");
        try (Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic)
                .batchingMaxPublishDelay(500, TimeUnit.MILLISECONDS).create()) {
            for (int i = 0; i < 5; i++) {
                producer.sendAsync("m" + i);
            }
            producer.flush();
        }
        try (Consumer<String> consumer = shared(server, topic).enableBatchIndexAcknowledgment(true).subscribe()) {
            for (int i = 0; i < 5; i++) {
                Message<String> message = Received.one(consumer);
                steps.say("place", Received.place(message.getMessageId()));
                if (i % 2 == 0) {
                    consumer.acknowledge(message);
                }
            }
        }
        try (Consumer<String> consumer = shared(server, topic).enableBatchIndexAcknowledgment(true).subscribe()) {
            steps.say("left", Received.rest(consumer, 800));
        }
    }

    private static void delayed(Server server, Steps steps) throws Exception {
        String topic = server.topic("delayed");
        try (Consumer<String> consumer = shared(server, topic).subscribe();
                Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic).enableBatching(false).create()) {
            long began = System.currentTimeMillis();
            producer.newMessage().deliverAfter(2, TimeUnit.SECONDS).value("late").send();
            producer.send("now");
            steps.say("order", Received.values(consumer, 2));
            steps.say("waited", System.currentTimeMillis() - began > 1500);
        }
    }
}
