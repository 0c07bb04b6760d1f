package scripts;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** The steps of one script, as lines on the standard output. */
final class Steps {
    private static final Gson JSON = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
    private final String script;

    Steps(String script) {
        this.script = script;
    }

    void say(String step, Object outcome) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("script", script);
        line.put("step", step);
        line.put("outcome", outcome);
        System.out.println(JSON.toJson(line));
    }

    void failed(String step, Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof ExecutionException || cause instanceof CompletionException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("error", cause.getClass().getSimpleName());
        error.put("message", String.valueOf(cause.getMessage()));
        say(step, error);
    }

    /** Says what the work returns, or how it failed. */
    void attempt(String step, Work work) {
        try {
            say(step, work.run());
        } catch (Exception failure) {
            failed(step, failure);
        }
    }

    interface Work {
        Object run() throws Exception;
    }
}
