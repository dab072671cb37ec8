import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.cli.ConnectDistributed;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.runtime.Connect;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * Workers of one Connect cluster in one JVM. A line on stdin starts or stops one ({@code {"start": NAME, "properties":
 * {…}}}, {@code {"stop": NAME}}), and a line on stdout says that it is done.
 */
public final class ConnectWorkers {
    private ConnectWorkers() { }

    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Map<String, Connect<?>> workers = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = json.readTree(line);
            if (asked.has("start")) {
                Map<String, String> properties = new HashMap<>();
                asked.get("properties").fields().forEachRemaining(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
                workers.put(asked.get("start").asText(), new ConnectDistributed().startConnect(properties));
            } else {
                Connect<?> worker = workers.remove(asked.get("stop").asText());
                worker.stop();
                worker.awaitStop();
            }
            System.out.println(json.writeValueAsString(Map.of("done", line)));
        }
        System.exit(0);
    }

    /** A connector of {@code tasks.max} tasks that read nothing. */
    public static final class IdleSource extends SourceConnector {
        @Override
        public void start(Map<String, String> properties) { }

        @Override
        public Class<? extends Task> taskClass() {
            return IdleTask.class;
        }

        @Override
        public List<Map<String, String>> taskConfigs(int most) {
            List<Map<String, String>> configs = new ArrayList<>();
            for (int i = 0; i < most; i++)
                configs.add(Map.of("number", String.valueOf(i)));
            return configs;
        }

        @Override
        public void stop() { }

        @Override
        public ConfigDef config() {
            return new ConfigDef();
        }

        @Override
        public String version() {
            return "1";
        }
    }

    public static final class IdleTask extends SourceTask {
        @Override
        public void start(Map<String, String> properties) { }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            Thread.sleep(1_000);
            return null;
        }

        @Override
        public void stop() { }

        @Override
        public String version() {
            return "1";
        }
    }
}
