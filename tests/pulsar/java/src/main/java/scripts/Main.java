package scripts;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs scripts of the Java client against one server: one JSON line for each step. */
public final class Main {
    private static final Map<String, Script> SCRIPTS = new TreeMap<>();

    static {
        NativeSchemas.addTo(SCRIPTS);
        ManySchemas.addTo(SCRIPTS);
        Subscriptions.addTo(SCRIPTS);
        Redelivery.addTo(SCRIPTS);
        Positions.addTo(SCRIPTS);
        Payloads.addTo(SCRIPTS);
        Refusals.addTo(SCRIPTS);
    }

    private Main() {}

    /** Arguments: service URL, admin URL, prefix of topic names, then scripts ("all" for every one). */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("list")) {
            SCRIPTS.keySet().forEach(System.out::println);
            return;
        }
        List<String> wanted = Arrays.asList(arguments).subList(3, arguments.length);
        try (Server server = new Server(arguments[0], arguments[1], arguments[2])) {
            for (String name : wanted.contains("all") ? SCRIPTS.keySet() : wanted) {
                run(name, server);
            }
        }
        System.exit(0);
    }

    private static void run(String name, Server server) {
        Steps steps = new Steps(name);
        try {
            SCRIPTS.get(name).run(server, steps);
        } catch (Exception failure) {
            steps.failed("the script", failure);
        }
        steps.say("end", true);
    }
}
