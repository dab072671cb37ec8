import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;

/** RangeAssignor of Kafka 2.4 to 3.4, between static members and racks, behind the replay format. */
public final class StaticFirstOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StaticFirstOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve(StaticFirstOracle::assigned);
    }

    private static ObjectNode assigned(String strategy, JsonNode input) {
        boolean isGiven = input.path("order").asText("given").equals("given");
        Map<String, Integer> topics = isGiven ? new LinkedHashMap<>() : new HashMap<>();
        for (JsonNode topic : input.get("topics"))
            topics.put(topic.get("topic").asText(), topic.get("n").asInt());
        Map<String, Subscription> members = isGiven ? new LinkedHashMap<>() : new HashMap<>();
        for (JsonNode member : input.get("members")) {
            List<String> subscribed = new ArrayList<>();
            member.get("topics").forEach(topic -> subscribed.add(topic.asText()));
            Subscription subscription = new Subscription(subscribed);
            if (member.hasNonNull("instanceId"))
                subscription.setGroupInstanceId(Optional.of(member.get("instanceId").asText()));
            members.put(member.get("id").asText(), subscription);
        }
        ObjectNode output = JSON.createObjectNode();
        ObjectNode lists = output.putObject("assignment");
        new RangeAssignor().assign(topics, members).forEach((member, partitions) -> {
            ArrayNode list = lists.putArray(member);
            for (TopicPartition partition : partitions)
                list.addArray().add(partition.topic()).add(partition.partition());
        });
        return output;
    }
}
