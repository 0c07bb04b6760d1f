package scripts;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.ProducerAccessMode;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionType;

/** What is not let in, and what the client is told. */
final class Refusals {
    private Refusals() {}

    static void addTo(Map<String, Script> scripts) {
        scripts.put("incompatible", Refusals::incompatible);
        scripts.put("busy", Refusals::busy);
        scripts.put("missing-namespace", Refusals::missingNamespace);
        scripts.put("exclusive-access", Refusals::exclusiveAccess);
        scripts.put("transaction", Refusals::transaction);
    }

    private static void incompatible(Server server, Steps steps) throws Exception {
        String topic = server.topic("incompatible");
        server.client.newProducer(Records.avro(Records.Order.class)).topic(topic).create().close();
        steps.attempt("a producer", () -> {
            server.client.newProducer(Records.avro(Records.Foreign.Order.class)).topic(topic).create().close();
            return "let in";
        });
        steps.attempt("a consumer", () -> {
            server.client.newConsumer(Records.avro(Records.Foreign.Order.class)).topic(topic).subscriptionName("s").subscribe().close();
            return "let in";
        });
        steps.attempt("another type", () -> {
            server.client.newProducer(Schema.STRING).topic(topic).create().close();
            return "let in";
        });
        steps.attempt("no schema", () -> {
            server.client.newProducer().topic(topic).create().close();
            return "let in";
        });
    }

    private static void busy(Server server, Steps steps) throws Exception {
        String topic = server.topic("busy");
        try (Consumer<byte[]> consumer = server.client.newConsumer().topic(topic).subscriptionName("s").subscribe();
                Producer<byte[]> producer = server.client.newProducer().topic(topic).producerName("p").create();
                PulsarClient other = server.builder().build()) {
            steps.attempt("a second exclusive consumer", () -> {
                other.newConsumer().topic(topic).subscriptionName("s").subscribe().close();
                return "let in";
            });
            steps.attempt("a consumer of another type", () -> {
                other.newConsumer().topic(topic).subscriptionName("s").subscriptionType(SubscriptionType.Shared).subscribe().close();
                return "let in";
            });
            steps.attempt("a producer of the same name", () -> {
                other.newProducer().topic(topic).producerName("p").create().close();
                return "let in";
            });
        }
    }

    private static void missingNamespace(Server server, Steps steps) {
        steps.attempt("a producer", () -> {
            server.client.newProducer().topic("persistent://public/no-such-namespace/t").create().close();
            return "let in";
        });
        steps.attempt("a consumer", () -> {
            server.client.newConsumer().topic("persistent://no-such-tenant/n/t").subscriptionName("s").subscribe().close();
            return "let in";
        });
        steps.attempt("a name that is none", () -> {
            server.client.newProducer().topic("persistent://public/default/a/b/c").create().close();
            return "let in";
        });
    }

    private static void exclusiveAccess(Server server, Steps steps) {
        steps.attempt("an exclusive producer", () -> {
            server.client.newProducer().topic(server.topic("exclusive-access")).accessMode(ProducerAccessMode.Exclusive)
                    .create().close();
            return "let in";
        });
    }

    private static void transaction(Server server, Steps steps) {
        steps.attempt("a transaction", () -> {
            try (PulsarClient client = server.builder().enableTransaction(true).build()) {
                client.newTransaction().withTransactionTimeout(5, TimeUnit.SECONDS).build().get(10, TimeUnit.SECONDS);
                return "begun";
            }
        });
    }
}
