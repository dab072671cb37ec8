import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.PartitionAssignor.Subscription;
import org.apache.kafka.common.TopicPartition;

/** The client assignors of Kafka 2.0.0 behind the replay format; for the rest see ClientOracle. */
public final class LegacyClientOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LegacyClientOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve(LegacyClientOracle::assigned);
    }

    private static ObjectNode assigned(String strategy, JsonNode input) throws ReflectiveOperationException {
        boolean isHash = input.path("order").asText("given").equals("hash");
        Map<String, Integer> topics = isHash ? new HashMap<>() : new LinkedHashMap<>();
        for (JsonNode topic : input.get("topics"))
            topics.put(topic.get("topic").asText(), topic.get("n").asInt());
        Map<String, Subscription> members = isHash ? new HashMap<>() : new LinkedHashMap<>();
        for (JsonNode member : input.get("members"))
            members.put(member.get("id").asText(), subscription(member));
        ObjectNode output = JSON.createObjectNode();
        if (isHash) {
            topics.keySet().forEach(output.putArray("topicOrder")::add);
            members.keySet().forEach(output.putArray("memberOrder")::add);
        }
        ObjectNode lists = output.putObject("assignment");
        assignor(strategy).assign(topics, members).forEach((member, partitions) -> lists.set(member, runs(partitions)));
        return output;
    }

    private static AbstractPartitionAssignor assignor(String strategy) {
        return switch (strategy) {
            case "legacy_range_2_0" -> new RangeAssignor();
            case "legacy_roundrobin_2_0" -> new RoundRobinAssignor();
            case "legacy_sticky_2_0" -> new StickyAssignor();
            default -> throw new IllegalArgumentException("unknown strategy " + strategy);
        };
    }

    private static Subscription subscription(JsonNode member) throws ReflectiveOperationException {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        if (!member.hasNonNull("owned"))
            return new Subscription(topics);
        List<TopicPartition> owned = new ArrayList<>();
        for (JsonNode run : member.get("owned"))
            run.get(1).forEach(partition -> owned.add(new TopicPartition(run.get(0).asText(), partition.asInt())));
        Method encode = StickyAssignor.class.getDeclaredMethod("serializeTopicPartitionAssignment", List.class);
        encode.setAccessible(true);
        try {
            return new Subscription(topics, (ByteBuffer) encode.invoke(null, owned));
        } catch (InvocationTargetException wrong) {
            throw new IllegalStateException(wrong.getCause());
        }
    }

    private static ArrayNode runs(List<TopicPartition> partitions) {
        ArrayNode runs = JSON.createArrayNode();
        String last = null;
        for (TopicPartition partition : partitions) {
            if (!partition.topic().equals(last))
                runs.addArray().add(partition.topic()).addArray();
            last = partition.topic();
            ((ArrayNode) runs.get(runs.size() - 1).get(1)).add(partition.partition());
        }
        return runs;
    }
}
