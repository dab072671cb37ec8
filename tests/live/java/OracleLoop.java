import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One JSON case a line in, one answer a line out. What a strategy throws is an answer. A case that has used ten seconds of
 * processor time ({@code -Doracle.seconds}) is answered EndlessReassignment, and the process ends with exit code 3, for its
 * thread cannot be stopped: start it again for the cases that follow.
 */
final class OracleLoop {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final long NANOSECONDS = TimeUnit.SECONDS.toNanos(Long.getLong("oracle.seconds", 10));

    interface Strategy {
        ObjectNode answer(String strategy, JsonNode input) throws Exception;
    }

    private OracleLoop() { }

    static void serve(Strategy strategy) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode reply = JSON.createObjectNode();
            reply.set("id", request.get("id"));
            ObjectNode output = inTime(() -> answer(strategy, request));
            reply.set("output", output != null ? output : JSON.createObjectNode().put("error", "EndlessReassignment"));
            out.println(JSON.writeValueAsString(reply));
            out.flush();
            if (output == null)
                System.exit(3);
        }
    }

    private static ObjectNode answer(OracleLoop.Strategy strategy, JsonNode request) throws Exception {
        try {
            return strategy.answer(request.get("strategy").asText(), request.get("input"));
        } catch (RuntimeException refusal) {
            return JSON.createObjectNode().put("error", refusal.getClass().getName())
                .put("message", String.valueOf(refusal.getMessage()));
        }
    }

    /** The answer, or null if it costs too much processor time. */
    private static ObjectNode inTime(java.util.concurrent.Callable<ObjectNode> work) throws Exception {
        FutureTask<ObjectNode> task = new FutureTask<>(work);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        while (true) {
            try {
                return task.get(200, TimeUnit.MILLISECONDS);
            } catch (TimeoutException running) {
                if (CLOCK.getThreadCpuTime(thread.getId()) > NANOSECONDS)
                    return null;
            }
        }
    }
}
