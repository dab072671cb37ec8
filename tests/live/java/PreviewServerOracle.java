import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberSubscription;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/** The group coordinator's assignors of Kafka 3.8 and 3.9, previews of KIP-848, behind the replay format. */
public final class PreviewServerOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private PreviewServerOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve((strategy, input) ->
            assigned(strategy.equals("server_range") ? new RangeAssignor() : new UniformAssignor(), input));
    }

    /** As the coordinator's own, which have other names in each release. */
    private record Member(Optional<String> instanceId, Set<Uuid> subscribedTopicIds, Map<Uuid, Set<Integer>> partitions)
            implements MemberSubscription, MemberAssignment {
        public Optional<String> rackId() {
            return Optional.empty();
        }
    }

    private record Group(
            Map<String, Member> members, SubscriptionType subscriptionType, Map<Uuid, Map<Integer, String>> inverted)
            implements GroupSpec {
        public Collection<String> memberIds() {
            return members.keySet();
        }

        public boolean isPartitionAssigned(Uuid topicId, int partition) {
            return inverted.getOrDefault(topicId, Map.of()).containsKey(partition);
        }

        public MemberSubscription memberSubscription(String memberId) {
            return members.get(memberId);
        }

        public MemberAssignment memberAssignment(String memberId) {
            return members.get(memberId);
        }
    }

    private static ObjectNode assigned(PartitionAssignor assignor, JsonNode input) {
        boolean isHash = input.path("order").asText("given").equals("hash");
        Map<String, Member> members = isHash ? new HashMap<>() : new LinkedHashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Map<String, Set<Uuid>> subscriptions = new HashMap<>();
        Map<String, Map<Uuid, Set<Integer>>> held = new HashMap<>();
        for (JsonNode member : input.get("members")) {
            String id = member.get("id").asText();
            Set<Uuid> topics = isHash ? new HashSet<>() : new LinkedHashSet<>();
            member.get("topics").forEach(topic -> topics.add(Uuid.fromString(topic.asText())));
            Map<Uuid, Set<Integer>> owned = assignment(member.path("assignment"), isHash);
            owned.forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, id)));
            subscriptions.put(id, topics);
            held.put(id, owned);
            members.put(id, new Member(Optional.ofNullable(member.path("instanceId").textValue()), topics, Collections.unmodifiableMap(owned)));
        }
        if (input.has("inverted")) {
            inverted.clear();
            assignment(input.get("inverted"), true).forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, "somebody")));
        }
        GroupAssignment answer = assignor.assign(new Group(
            members, SubscriptionType.valueOf(input.get("subscriptionType").asText()), inverted), describer(input));
        ObjectNode output = JSON.createObjectNode();
        if (isHash)
            describeOrders(members.keySet(), subscriptions, held, output);
        ObjectNode lists = output.putObject("assignment");
        answer.members().forEach((member, assignment) -> {
            ObjectNode topics = lists.putObject(member);
            assignment.partitions().forEach((topic, partitions) ->
                new TreeSet<>(partitions).forEach(topics.withArray(topic.toString())::add));
        });
        return output;
    }

    private static Map<Uuid, Set<Integer>> assignment(JsonNode listed, boolean isHash) {
        Map<Uuid, Set<Integer>> assignment = isHash ? new HashMap<>() : new LinkedHashMap<>();
        for (JsonNode topic : listed) {
            Set<Integer> partitions = isHash ? new HashSet<>() : new LinkedHashSet<>();
            topic.get(1).forEach(partition -> partitions.add(partition.asInt()));
            assignment.put(Uuid.fromString(topic.get(0).asText()), partitions);
        }
        return assignment;
    }

    private static void describeOrders(
            Set<String> order, Map<String, Set<Uuid>> subscriptions, Map<String, Map<Uuid, Set<Integer>>> owned, ObjectNode output) {
        ArrayNode members = output.putArray("memberOrder");
        ObjectNode topics = output.putObject("memberTopicOrder");
        ObjectNode assignments = output.putObject("memberAssignmentOrder");
        for (String member : order) {
            members.add(member);
            ArrayNode topicOrder = topics.putArray(member);
            subscriptions.get(member).forEach(topic -> topicOrder.add(topic.toString()));
            if (owned.get(member).isEmpty())
                continue;
            ArrayNode walk = assignments.putArray(member);
            owned.get(member).forEach((topic, partitions) -> {
                ArrayNode entry = walk.addArray().add(topic.toString());
                partitions.forEach(entry.addArray()::add);
            });
        }
    }

    private static SubscribedTopicDescriber describer(JsonNode input) {
        Map<Uuid, Integer> counts = new HashMap<>();
        input.get("topics").forEach(topic -> counts.put(Uuid.fromString(topic.get("id").asText()), topic.get("n").asInt()));
        return new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topicId) {
                return counts.getOrDefault(topicId, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
    }
}
