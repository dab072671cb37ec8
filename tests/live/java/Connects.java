import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.utils.Utils;

/** Does Kafka's own admin client connect with a file, read as kafka-topics reads --command-config? A line a file. */
public class Connects {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = json.readTree(line);
            String answer = "";
            try {
                Properties properties = Utils.loadProps(asked.get("file").asText());
                properties.put("bootstrap.servers", asked.get("bootstrap").asText());
                try (Admin admin = Admin.create(properties)) {
                    admin.listTopics().names().get(20, TimeUnit.SECONDS);
                }
            } catch (Throwable failure) {
                Throwable cause = failure;
                while (cause.getCause() != null) cause = cause.getCause();
                answer = cause.toString();
            }
            System.out.println(json.writeValueAsString(Map.of("failure", answer)));
        }
    }
}
