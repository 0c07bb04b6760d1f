package scripts;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.AuthenticationFactory;
import org.apache.pulsar.client.api.ClientBuilder;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;

/** One server, one client of it, and names that no other run uses. */
final class Server implements AutoCloseable {
    final PulsarClient client;
    final String serviceUrl;
    private final String adminUrl;
    private final String prefix;
    private final HttpClient http = HttpClient.newHttpClient();

    Server(String serviceUrl, String adminUrl, String prefix) throws PulsarClientException {
        this.serviceUrl = serviceUrl;
        this.adminUrl = adminUrl;
        this.prefix = prefix;
        this.client = builder().build();
    }

    /** TALLYSTICK_TOKEN and TALLYSTICK_TRUST (a file of certificates) name the credentials, where the server asks for them. */
    ClientBuilder builder() {
        ClientBuilder builder = PulsarClient.builder()
                .serviceUrl(serviceUrl)
                .operationTimeout(15, TimeUnit.SECONDS)
                .ioThreads(1)
                .listenerThreads(1);
        String token = System.getenv("TALLYSTICK_TOKEN");
        if (token != null) {
            builder.authentication(AuthenticationFactory.token(token));
        }
        String trust = System.getenv("TALLYSTICK_TRUST");
        if (trust != null) {
            builder.tlsTrustCertsFilePath(trust).enableTlsHostnameVerification(false);
        }
        return builder;
    }

    String topic(String name) {
        return "persistent://public/default/" + prefix + "-" + name;
    }

    int createPartitions(String name, int partitions) throws Exception {
        return put("/admin/v2/persistent/public/default/" + prefix + "-" + name + "/partitions", String.valueOf(partitions));
    }

    int growPartitions(String name, int partitions) throws Exception {
        return send("POST", "/admin/v2/persistent/public/default/" + prefix + "-" + name + "/partitions", String.valueOf(partitions));
    }

    int put(String path, String json) throws Exception {
        return send("PUT", path, json);
    }

    private int send(String method, String path, String json) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(adminUrl + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(json));
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    @Override
    public void close() throws PulsarClientException {
        client.close();
    }
}
