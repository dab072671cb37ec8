import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.admin.AdminUtils;
import org.apache.kafka.admin.BrokerMetadata;

/** AdminUtils of Kafka 4.0 and earlier behind the replay format; its one Random is seeded for each case. */
public final class AdminUtilsOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private AdminUtilsOracle() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode reply = JSON.createObjectNode();
            reply.set("id", request.get("id"));
            reply.set("output", answer(request.get("input")));
            out.println(JSON.writeValueAsString(reply));
            out.flush();
        }
    }

    private static ObjectNode answer(JsonNode input) throws ReflectiveOperationException {
        Field random = AdminUtils.class.getDeclaredField("RAND");
        random.setAccessible(true);
        ((Random) random.get(null)).setSeed(input.path("seed").asLong(0));
        List<BrokerMetadata> brokers = new ArrayList<>();
        Map<Integer, String> racks = new HashMap<>();
        for (JsonNode broker : input.get("brokers")) {
            Optional<String> rack = Optional.ofNullable(broker.path("rack").textValue());
            brokers.add(new BrokerMetadata(broker.get("id").asInt(), rack));
            rack.ifPresent(name -> racks.put(broker.get("id").asInt(), name));
        }
        ObjectNode output = JSON.createObjectNode();
        try {
            output.set("assignment", JSON.valueToTree(AdminUtils.assignReplicasToBrokers(
                brokers, input.get("numPartitions").asInt(), input.get("replicationFactor").asInt(),
                input.path("fixedStartIndex").asInt(-1), input.path("startPartitionId").asInt(-1))));
        } catch (RuntimeException refusal) {
            return JSON.createObjectNode().put("error", refusal.getClass().getName())
                .put("message", String.valueOf(refusal.getMessage()));
        }
        if (racks.size() == brokers.size())
            output.set("rackAlternated", JSON.valueToTree(AdminUtils.getRackAlternatedBrokerList(racks)));
        return output;
    }
}
