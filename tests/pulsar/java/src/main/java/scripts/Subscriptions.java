package scripts;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.BatchReceivePolicy;
import org.apache.pulsar.client.api.BatcherBuilder;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.ConsumerBuilder;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;

/** Who gets which message. */
final class Subscriptions {
    private Subscriptions() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("shared", Subscriptions::shared);
        scripts.put("key-shared", Subscriptions::keyShared);
        scripts.put("failover", Subscriptions::failover);
        scripts.put("partitions", Subscriptions::partitions);
        scripts.put("pattern", Subscriptions::pattern);
        scripts.put("cumulative", Subscriptions::cumulative);
        scripts.put("unsubscribe", Subscriptions::unsubscribe);
    }

    private static ConsumerBuilder<String> subscribing(Server server, String topic, SubscriptionType type) {
        return server.client.newConsumer(Schema.STRING).topic(topic).subscriptionName("s").subscriptionType(type)
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).receiverQueueSize(10);
    }

    private static void send(Server server, String topic, int first, int count) throws Exception {
        try (Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic).enableBatching(false).create()) {
            for (int i = first; i < first + count; i++) {
                producer.newMessage().key("k" + i % 7).value("k" + i % 7 + ":" + i).send();
            }
        }
    }

    private static void shared(Server server, Steps steps) throws Exception {
        String topic = server.topic("shared");
        try (Consumer<String> one = subscribing(server, topic, SubscriptionType.Shared).subscribe();
                Consumer<String> two = subscribing(server, topic, SubscriptionType.Shared).subscribe()) {
            send(server, topic, 0, 40);
            List<String> first = Received.rest(one, 800);
            List<String> second = Received.rest(two, 800);
            steps.say("both got some", !first.isEmpty() && !second.isEmpty());
            TreeSet<String> all = new TreeSet<>(first);
            all.addAll(second);
            steps.say("together each once", List.of(all.size(), first.size() + second.size()));
        }
    }

    private static void keyShared(Server server, Steps steps) throws Exception {
        String topic = server.topic("key-shared");
        try (Consumer<String> one = subscribing(server, topic, SubscriptionType.Key_Shared).consumerName("one").subscribe();
                Consumer<String> two = subscribing(server, topic, SubscriptionType.Key_Shared).consumerName("two").subscribe()) {
            try (Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic)
                    .batcherBuilder(BatcherBuilder.KEY_BASED).create()) {
                for (int i = 0; i < 70; i++) {
                    producer.newMessage().key("k" + i % 7).value("k" + i % 7 + ":" + i).sendAsync();
                }
                producer.flush();
            }
            Map<String, List<String>> byConsumer = new LinkedHashMap<>();
            byConsumer.put("one", Received.rest(one, 800));
            byConsumer.put("two", Received.rest(two, 800));
            steps.say("keys with one consumer each", keys(byConsumer).values().stream().allMatch(owners -> owners.size() == 1));
            steps.say("order in each key", byConsumer.values().stream().allMatch(Subscriptions::isOrdered));
            steps.say("messages", byConsumer.values().stream().mapToInt(List::size).sum());
        }
    }

    private static Map<String, TreeSet<String>> keys(Map<String, List<String>> byConsumer) {
        Map<String, TreeSet<String>> owners = new TreeMap<>();
        byConsumer.forEach((name, values) -> values.forEach(value ->
                owners.computeIfAbsent(value.substring(0, value.indexOf(':')), key -> new TreeSet<>()).add(name)));
        return owners;
    }

    private static boolean isOrdered(List<String> values) {
        Map<String, Integer> last = new TreeMap<>();
        for (String value : values) {
            String[] parts = value.split(":");
            Integer before = last.put(parts[0], Integer.valueOf(parts[1]));
            if (before != null && before > Integer.parseInt(parts[1])) {
                return false;
            }
        }
        return true;
    }

    private static void failover(Server server, Steps steps) throws Exception {
        String topic = server.topic("failover");
        Map<String, Consumer<String>> consumers = new LinkedHashMap<>();
        for (String name : List.of("b", "a")) {
            consumers.put(name, subscribing(server, topic, SubscriptionType.Failover).consumerName(name).subscribe());
        }
        Thread.sleep(1500);
        send(server, topic, 0, 10);
        Map<String, List<String>> got = new TreeMap<>();
        for (var entry : consumers.entrySet()) {
            got.put(entry.getKey(), Received.rest(entry.getValue(), 1000));
        }
        String active = got.get("a").isEmpty() ? "b" : "a";
        steps.say("one of them got all, in order", got.get(active));
        steps.say("the other got", got.get(active.equals("a") ? "b" : "a"));
        consumers.get(active).close();
        send(server, topic, 10, 5);
        Consumer<String> left = consumers.get(active.equals("a") ? "b" : "a");
        steps.say("after it left", Received.values(left, 5));
        left.close();
    }

    private static void partitions(Server server, Steps steps) throws Exception {
        String topic = server.topic("partitions");
        steps.say("created", server.createPartitions("partitions", 3));
        steps.say("partitions", server.client.getPartitionsForTopic(topic).get(10, TimeUnit.SECONDS).stream()
                .map(name -> name.substring(name.length() - 12)).toList());
        try (Consumer<String> consumer = subscribing(server, topic, SubscriptionType.Exclusive).subscribe()) {
            send(server, topic, 0, 21);
            TreeMap<String, TreeSet<String>> places = new TreeMap<>();
            for (int i = 0; i < 21; i++) {
                Message<String> message = Received.one(consumer);
                String partition = message.getTopicName().substring(message.getTopicName().length() - 1);
                places.computeIfAbsent(message.getKey(), key -> new TreeSet<>()).add(partition);
                consumer.acknowledge(message);
            }
            steps.say("keys to partitions", places);
        }
        steps.say("grown", server.growPartitions("partitions", 5));
        steps.say("partitions then", server.client.getPartitionsForTopic(topic).get(10, TimeUnit.SECONDS).size());
    }

    private static void pattern(Server server, Steps steps) throws Exception {
        send(server, server.topic("pattern-a"), 0, 2);
        send(server, server.topic("other"), 0, 2);
        server.createPartitions("pattern-p", 2);
        try (Consumer<String> consumer = server.client.newConsumer(Schema.STRING).topicsPattern(server.topic("pattern-.*"))
                .subscriptionName("s").subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                .patternAutoDiscoveryPeriod(1, TimeUnit.SECONDS).subscribe()) {
            steps.say("found", new TreeSet<>(Received.rest(consumer, 1000)));
            send(server, server.topic("pattern-b"), 10, 3);
            steps.say("found later", new TreeSet<>(Received.values(consumer, 3)));
            send(server, server.topic("pattern-p"), 20, 4);
            steps.say("of the partitioned one", new TreeSet<>(Received.values(consumer, 4)));
        }
    }

    private static void cumulative(Server server, Steps steps) throws Exception {
        String topic = server.topic("cumulative");
        try (Consumer<String> consumer = subscribing(server, topic, SubscriptionType.Exclusive).subscribe()) {
            send(server, topic, 0, 6);
            List<Message<String>> messages = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                messages.add(Received.one(consumer));
            }
            consumer.acknowledgeCumulative(messages.get(3));
        }
        try (Consumer<String> consumer = subscribing(server, topic, SubscriptionType.Exclusive).subscribe()) {
            steps.say("left", Received.rest(consumer, 800));
        }
        send(server, topic, 6, 4);
        try (Consumer<String> consumer = subscribing(server, topic, SubscriptionType.Exclusive)
                .batchReceivePolicy(BatchReceivePolicy.builder().maxNumMessages(3).timeout(2, TimeUnit.SECONDS).build()).subscribe()) {
            List<String> batch = new ArrayList<>();
            consumer.batchReceive().forEach(message -> batch.add(message.getValue()));
            steps.say("batch receive", batch);
        }
    }

    private static void unsubscribe(Server server, Steps steps) throws Exception {
        String topic = server.topic("unsubscribe");
        send(server, topic, 0, 2);
        Consumer<String> one = subscribing(server, topic, SubscriptionType.Shared).subscribe();
        Consumer<String> two = subscribing(server, topic, SubscriptionType.Shared).subscribe();
        steps.attempt("with two consumers", () -> {
            one.unsubscribe();
            return "gone";
        });
        two.close();
        steps.attempt("alone", () -> {
            one.unsubscribe();
            return "gone";
        });
        try (Consumer<String> again = subscribing(server, topic, SubscriptionType.Shared).subscribe()) {
            steps.say("a new one starts over", new TreeSet<>(Received.rest(again, 800)));
        }
    }
}
