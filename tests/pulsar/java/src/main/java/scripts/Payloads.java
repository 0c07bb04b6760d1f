package scripts;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;

/** Large, compressed, chunked and empty ones. */
final class Payloads {
    private Payloads() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("compression", Payloads::compression);
        scripts.put("chunks", Payloads::chunks);
        scripts.put("large", Payloads::large);
        scripts.put("metadata", Payloads::metadata);
    }

    private static byte[] noise(int size) {
        byte[] bytes = new byte[size];
        new Random(5).nextBytes(bytes);
        return bytes;
    }

    private static void compression(Server server, Steps steps) throws Exception {
        byte[] payload = "a line that repeats itself. ".repeat(200).getBytes();
        for (CompressionType kind : CompressionType.values()) {
            String topic = server.topic("compressed-" + kind.name().toLowerCase());
            try (Consumer<byte[]> consumer = server.client.newConsumer().topic(topic).subscriptionName("s").subscribe();
                    Producer<byte[]> producer = server.client.newProducer().topic(topic).compressionType(kind).create()) {
                producer.sendAsync(payload);
                producer.send(payload);
                boolean isSame = Arrays.equals(payload, Received.one(consumer).getData())
                        && Arrays.equals(payload, Received.one(consumer).getData());
                steps.say(kind.name(), isSame);
            }
        }
    }

    private static void chunks(Server server, Steps steps) throws Exception {
        String topic = server.topic("chunks");
        byte[] payload = noise(350_000);
        try (Consumer<byte[]> consumer = server.client.newConsumer().topic(topic).subscriptionName("s").subscribe();
                Producer<byte[]> producer = server.client.newProducer().topic(topic).enableBatching(false)
                        .enableChunking(true).chunkMaxMessageSize(100_000).create()) {
            var id = producer.send(payload);
            producer.send("small".getBytes());
            Message<byte[]> whole = Received.one(consumer);
            steps.say("whole", Arrays.equals(payload, whole.getData()));
            consumer.acknowledge(whole);
            steps.say("then", new String(Received.one(consumer).getData()));
            steps.say("id", List.of(id.getClass().getSimpleName(), Received.place(id)));
        }
    }

    private static void large(Server server, Steps steps) throws Exception {
        String topic = server.topic("large");
        try (Consumer<byte[]> consumer = server.client.newConsumer().topic(topic).subscriptionName("s").subscribe();
                Producer<byte[]> producer = server.client.newProducer().topic(topic).enableBatching(false).create()) {
            producer.send(noise(5_000_000));
            steps.say("5,000,000 bytes", Arrays.equals(noise(5_000_000), Received.one(consumer).getData()));
            steps.attempt("6,000,000 bytes", () -> {
                producer.send(noise(6_000_000));
                return "sent";
            });
            producer.send(new byte[0]);
            steps.say("none", Received.one(consumer).getData().length);
        }
    }

    private static void metadata(Server server, Steps steps) throws Exception {
        String topic = server.topic("metadata");
        try (Consumer<String> consumer = server.client.newConsumer(Schema.STRING).topic(topic).subscriptionName("s").subscribe();
                Producer<String> producer = server.client.newProducer(Schema.STRING).topic(topic).producerName("maker").create()) {
            producer.newMessage().key("k").orderingKey("o".getBytes()).eventTime(5).sequenceId(40).property("a", "b").value("v").send();
            producer.newMessage().key("k").value(null).send();
            Message<String> first = Received.one(consumer);
            steps.say("first", List.of(first.getKey(), new String(first.getOrderingKey()), first.getEventTime(),
                    first.getSequenceId(), first.getProperties(), first.getProducerName(), first.getTopicName().endsWith("-metadata")));
            Message<String> second = Received.one(consumer);
            steps.say("second", List.of(second.getSequenceId(), second.hasKey(), second.size(), "" + second.getValue()));
            steps.say("last sequence id", producer.getLastSequenceId());
        }
    }
}
