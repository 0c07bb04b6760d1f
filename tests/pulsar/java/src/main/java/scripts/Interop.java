package scripts;

import com.google.protobuf.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.common.schema.KeyValue;
import org.apache.pulsar.common.schema.KeyValueEncodingType;

/** Reads what another client has written to the topics "theirs-…", and writes the topics "java-…" for it. */
public final class Interop {
    private final Server server;
    private final Steps read = new Steps("read");
    private final Steps written = new Steps("written");

    private Interop(Server server) {
        this.server = server;
    }

    /** Arguments: service URL, admin URL, prefix of topic names. */
    public static void main(String[] arguments) throws Exception {
        try (Server server = new Server(arguments[0], arguments[1], arguments[2])) {
            Interop interop = new Interop(server);
            interop.readAll();
            interop.writeAll();
        }
        System.exit(0);
    }

    private void readAll() {
        read("avro", Records.avro(Records.Order.class), 3);
        read("avro-second", Records.avro(Records.Second.Order.class), 3);
        read("versions", Schema.AUTO_CONSUME(), 4);
        read("json", Schema.JSON(Records.Order.class), 2);
        read("inline", pairs(KeyValueEncodingType.INLINE), 2);
        read("separated", pairs(KeyValueEncodingType.SEPARATED), 2);
        read("string", Schema.STRING, 1);
        read("int8", Schema.INT8, 1);
        read("int16", Schema.INT16, 1);
        read("int32", Schema.INT32, 1);
        read("int64", Schema.INT64, 1);
        read("float", Schema.FLOAT, 1);
        read("double", Schema.DOUBLE, 1);
        read("boolean", Schema.BOOL, 1);
        read("instant", Schema.INSTANT, 1);
        read("local-date", Schema.LOCAL_DATE, 1);
        read("local-time", Schema.LOCAL_TIME, 1);
        read("local-date-time", Schema.LOCAL_DATE_TIME, 1);
        read("timestamp", Schema.TIMESTAMP, 1);
        read("protobuf-native", Schema.PROTOBUF_NATIVE(Timestamp.class), 1);
        read("protobuf-generic", Schema.AUTO_CONSUME(), 1);
        read("external", new ExternalTexts(), 5);
        for (CompressionType kind : CompressionType.values()) {
            read("compressed-" + kind.name().toLowerCase(), Records.avro(Records.Order.class), 3);
        }
        read("bytes", Schema.BYTES, 3);
    }

    /** Value, key in hexadecimal, properties, event time, schema version, schema id in hexadecimal. */
    private <T> void read(String name, Schema<T> schema, int count) {
        try (Consumer<T> consumer = server.client.newConsumer(schema).topic(server.topic("theirs-" + name))
                .subscriptionName("java").subscriptionInitialPosition(SubscriptionInitialPosition.Earliest).subscribe()) {
            for (int i = 0; i < count; i++) {
                Message<T> message = Received.one(consumer);
                String key = message.hasKey() ? HexFormat.of().formatHex(message.getKeyBytes()) : null;
                String id = message.getSchemaId().map(HexFormat.of()::formatHex).orElse(null);
                String value = message.getValue() instanceof Timestamp time ? seconds(time) : Received.text(message.getValue());
                read.say(name, Arrays.asList(value, key, message.getProperties(), message.getEventTime(),
                        Received.version(message), id));
            }
        } catch (Exception failure) {
            read.failed(name, failure);
        }
    }

    private static String seconds(Timestamp time) {
        return time.getSeconds() + "." + time.getNanos();
    }

    private static Schema<KeyValue<String, Records.Order>> pairs(KeyValueEncodingType encoding) {
        return Schema.KeyValue(Schema.STRING, Records.avro(Records.Order.class), encoding);
    }

    private void writeAll() {
        Records.Order one = new Records.Order(1, "a");
        write("avro", Records.avro(Records.Order.class), one, new Records.Order(2, null));
        write("json", Schema.JSON(Records.Order.class), one, new Records.Order(2, null));
        write("inline", pairs(KeyValueEncodingType.INLINE), new KeyValue<>("k", one), new KeyValue<>("none", null));
        write("separated", pairs(KeyValueEncodingType.SEPARATED), new KeyValue<>("k", one), new KeyValue<>("none", null));
        write("string", Schema.STRING, "Zoë");
        write("int8", Schema.INT8, (byte) -8);
        write("int16", Schema.INT16, (short) -16);
        write("int32", Schema.INT32, -32);
        write("int64", Schema.INT64, -64L);
        write("float", Schema.FLOAT, 1.5f);
        write("double", Schema.DOUBLE, 0.1);
        write("boolean", Schema.BOOL, true);
        write("instant", Schema.INSTANT, java.time.Instant.ofEpochSecond(5, 7));
        write("local-date", Schema.LOCAL_DATE, java.time.LocalDate.of(2024, 2, 29));
        write("local-time", Schema.LOCAL_TIME, java.time.LocalTime.of(12, 30, 15, 7));
        write("local-date-time", Schema.LOCAL_DATE_TIME, java.time.LocalDateTime.of(2024, 2, 29, 12, 30, 15, 7));
        write("timestamp", Schema.TIMESTAMP, new java.sql.Timestamp(1_709_209_815_250L));
        Timestamp time = Timestamp.newBuilder().setSeconds(5).setNanos(7).build();
        write("protobuf-native", Schema.PROTOBUF_NATIVE(Timestamp.class), time);
        write("protobuf", Schema.PROTOBUF(Timestamp.class), time);
        write("external", new ExternalTexts(), "0001:a", "0002:b", "0001:c");
        for (CompressionType kind : CompressionType.values()) {
            compressed("compressed-" + kind.name().toLowerCase(), kind);
        }
        versions();
        metadata();
        chunks();
    }

    @SafeVarargs
    private <T> void write(String name, Schema<T> schema, T... values) {
        written.attempt(name, () -> {
            // One by one: batches of the Java client give all messages the schema id of the first.
            try (Producer<T> producer = producer(name, schema, false)) {
                for (T value : values) {
                    producer.send(value);
                }
            }
            return values.length;
        });
    }

    private <T> Producer<T> producer(String name, Schema<T> schema, boolean inBatches) throws Exception {
        return server.client.newProducer(schema).topic(server.topic("java-" + name)).enableBatching(inBatches)
                .batchingMaxPublishDelay(200, TimeUnit.MILLISECONDS).create();
    }

    private void compressed(String name, CompressionType kind) {
        written.attempt(name, () -> {
            List<CompletableFuture<?>> sent = new ArrayList<>();
            try (var producer = server.client.newProducer(Records.avro(Records.Order.class))
                    .topic(server.topic("java-" + name)).compressionType(kind).create()) {
                for (int i = 0; i < 3; i++) {
                    sent.add(producer.sendAsync(new Records.Order(i, "again and ".repeat(50))));
                }
                for (CompletableFuture<?> one : sent) {
                    one.get(10, TimeUnit.SECONDS);
                }
            }
            return sent.size();
        });
    }

    private void versions() {
        written.attempt("versions", () -> {
            List<CompletableFuture<?>> sent = new ArrayList<>();
            try (Producer<byte[]> producer = producer("versions", Schema.BYTES, true)) {
                for (int i = 0; i < 4; i++) {
                    sent.add(i % 2 == 0
                            ? producer.newMessage(Records.avro(Records.Order.class)).value(new Records.Order(i, "a")).sendAsync()
                            : producer.newMessage(Records.avro(Records.Second.Order.class)).value(new Records.Second.Order(i, "b", "n")).sendAsync());
                }
                for (CompletableFuture<?> one : sent) {
                    one.get(10, TimeUnit.SECONDS);
                }
            }
            return sent.size();
        });
    }

    private void metadata() {
        written.attempt("metadata", () -> {
            try (Producer<String> producer = producer("metadata", Schema.STRING, true)) {
                Map<String, String> properties = new TreeMap<>(Map.of("a", "1", "b", ""));
                producer.newMessage().key("Zoë").properties(properties).eventTime(1000).value("text").send();
                producer.newMessage().keyBytes(new byte[] {0, (byte) 0xff}).value("").send();
                producer.newMessage().key("k").value(null).send();
            }
            return 3;
        });
    }

    private void chunks() {
        written.attempt("chunks", () -> {
            byte[] large = new byte[350_000];
            Arrays.fill(large, (byte) 'x');
            try (Producer<byte[]> producer = server.client.newProducer().topic(server.topic("java-chunks"))
                    .enableBatching(false).enableChunking(true).chunkMaxMessageSize(100_000).create()) {
                producer.send(large);
                producer.send("small".getBytes());
            }
            return 2;
        });
    }
}
