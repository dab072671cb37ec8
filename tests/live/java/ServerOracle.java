import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.classic.ClassicGroupMember;
import org.apache.kafka.coordinator.group.classic.ClassicGroupState;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.ReplicaPlacer;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;

/**
 * What runs on the server, of Kafka 4.4, behind the replay format: group coordinator's assignors, the
 * controller's replica placer, the proposals of kafka-reassign-partitions, murmur2, and the members of classic groups.
 */
public final class ServerOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ServerOracle() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode reply = JSON.createObjectNode();
            reply.set("id", request.get("id"));
            reply.set("output", answer(request.get("strategy").asText(), request.get("input")));
            out.println(JSON.writeValueAsString(reply));
            out.flush();
        }
    }

    private static ObjectNode answer(String strategy, JsonNode input) throws ReflectiveOperationException {
        try {
            return switch (strategy) {
                case "server_range" -> assigned(new RangeAssignor(), input);
                case "server_uniform" -> assigned(new UniformAssignor(), input);
                case "share_simple" -> assigned(new SimpleAssignor(), input);
                case "striped_replica_placer" -> placed(input);
                case "reassign_generate" -> proposed(input);
                case "producer_partition" -> hashed(input);
                case "group_vote" -> voted(input);
                case "group_partition" -> coordinated(input);
                default -> throw new IllegalStateException("unknown strategy " + strategy);
            };
        } catch (RuntimeException refusal) {
            return JSON.createObjectNode().put("error", refusal.getClass().getName())
                .put("message", String.valueOf(refusal.getMessage()));
        }
    }

    private static ObjectNode assigned(PartitionAssignor assignor, JsonNode input) {
        boolean isHash = input.path("order").asText("given").equals("hash");
        Map<String, MemberSubscriptionAndAssignmentImpl> members = isHash ? new HashMap<>() : new LinkedHashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        ObjectNode output = JSON.createObjectNode();
        Map<String, Set<Uuid>> subscriptions = new HashMap<>();
        Map<String, Map<Uuid, Set<Integer>>> owned = new HashMap<>();
        for (JsonNode member : input.get("members")) {
            String id = member.get("id").asText();
            Set<Uuid> topics = isHash ? new HashSet<>() : new LinkedHashSet<>();
            member.get("topics").forEach(topic -> topics.add(Uuid.fromString(topic.asText())));
            Map<Uuid, Set<Integer>> assignment = assignment(member.path("assignment"), isHash);
            assignment.forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, id)));
            subscriptions.put(id, topics);
            owned.put(id, assignment);
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                Optional.ofNullable(member.path("rack").textValue()),
                Optional.ofNullable(member.path("instanceId").textValue()), topics, new Assignment(assignment)));
        }
        if (input.has("inverted")) {
            inverted.clear();
            assignment(input.get("inverted"), true).forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, "somebody")));
        }
        Optional<Map<Uuid, Set<Integer>>> assignable = input.has("assignable")
            ? Optional.of(assignment(input.get("assignable"), true)) : Optional.empty();
        GroupSpec group = new GroupSpecImpl(
            members, SubscriptionType.valueOf(input.get("subscriptionType").asText()), inverted, assignable);
        GroupAssignment answer = assignor.assign(group, describer(input));
        if (isHash)
            describeOrders(members.keySet(), subscriptions, owned, output);
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

    private static List<UsableBroker> brokers(JsonNode input) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (JsonNode broker : input.get("brokers"))
            brokers.add(new UsableBroker(broker.get("id").asInt(), Optional.ofNullable(broker.path("rack").textValue()),
                broker.path("fenced").asBoolean(false)));
        return brokers;
    }

    private static ObjectNode placed(JsonNode input) {
        List<UsableBroker> brokers = brokers(input);
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int brokerId) {
                return DirectoryId.MIGRATING;
            }
        };
        PlacementSpec asked = new PlacementSpec(
            0, input.get("numPartitions").asInt(), (short) input.get("replicationFactor").asInt());
        ObjectNode output = JSON.createObjectNode();
        ArrayNode lists = JSON.createArrayNode();
        new StripedReplicaPlacer(new Random(input.get("seed").asLong())).place(asked, cluster).assignments()
            .forEach(partition -> partition.replicas().forEach(lists.addArray()::add));
        output.set("assignment", lists);
        return output;
    }

    private static ObjectNode proposed(JsonNode input) throws ReflectiveOperationException {
        Map<TopicPartition, List<Integer>> current = new HashMap<>();
        for (JsonNode row : input.get("current")) {
            List<Integer> replicas = new ArrayList<>();
            row.get(2).forEach(replica -> replicas.add(replica.asInt()));
            current.put(new TopicPartition(row.get(0).asText(), row.get(1).asInt()), replicas);
        }
        Field placer = ReassignPartitionsCommand.class.getDeclaredField("REPLICA_PLACER");
        placer.setAccessible(true);
        Field random = StripedReplicaPlacer.class.getDeclaredField("random");
        random.setAccessible(true);
        ((Random) random.get((ReplicaPlacer) placer.get(null))).setSeed(input.get("seed").asLong());
        Method calculate = ReassignPartitionsCommand.class.getDeclaredMethod("calculateAssignment", Map.class, List.class);
        calculate.setAccessible(true);
        Map<TopicPartition, List<Integer>> proposal;
        try {
            @SuppressWarnings("unchecked")
            var answer = (Map<TopicPartition, List<Integer>>) calculate.invoke(null, current, brokers(input));
            proposal = answer;
        } catch (InvocationTargetException thrown) {
            throw (RuntimeException) thrown.getCause();
        }
        Map<String, Map<Integer, List<Integer>>> byTopic = new TreeMap<>();
        proposal.forEach((partition, replicas) ->
            byTopic.computeIfAbsent(partition.topic(), t -> new TreeMap<>()).put(partition.partition(), replicas));
        return JSON.createObjectNode().set("assignment", JSON.valueToTree(byTopic));
    }

    private static ObjectNode voted(JsonNode input) {
        ClassicGroup group = new ClassicGroup(new LogContext(), "group", ClassicGroupState.EMPTY, Time.SYSTEM);
        ArrayNode trace = JSON.createArrayNode();
        for (JsonNode step : input.get("ops")) {
            ObjectNode seen = trace.addObject();
            JoinGroupRequestProtocolCollection protocols = new JoinGroupRequestProtocolCollection();
            step.path("protocols").forEach(
                name -> protocols.add(new JoinGroupRequestProtocol().setName(name.asText()).setMetadata(new byte[0])));
            String id = step.path("id").asText();
            switch (step.get("op").asText()) {
                case "join" -> {
                    ClassicGroupMember member = new ClassicGroupMember(
                        id, Optional.ofNullable(step.path("instanceId").textValue()), "client", "host", 1, 1, "consumer", protocols);
                    group.add(member, step.get("waiting").asBoolean() ? new CompletableFuture<>() : null);
                }
                case "rejoin" -> group.updateMember(group.member(id), protocols, 1, 1, new CompletableFuture<>());
                case "leave" -> group.remove(id);
                case "replace" -> group.replaceStaticMember(
                    step.get("instanceId").asText(), step.get("old").asText(), step.get("new").asText());
                case "elect" -> seen.put("elected", group.maybeElectNewJoinedLeader());
                default -> group.allMembers().forEach(
                    member -> group.completeJoinFuture(member, new JoinGroupResponseData()));
            }
            seen.put("leader", group.leaderOrNull());
            seen.put("protocol", group.numMembers() == 0 ? null : group.selectProtocol());
            group.allMemberIds().forEach(seen.putArray("memberOrder")::add);
        }
        return JSON.createObjectNode().set("trace", trace);
    }

    private static ObjectNode coordinated(JsonNode input) {
        int code = input.get("group").asText().hashCode();
        return JSON.createObjectNode().put("hashCode", code)
            .put("partition", Utils.abs(code) % input.get("numPartitions").asInt());
    }

    private static ObjectNode hashed(JsonNode input) {
        int murmur2 = Utils.murmur2(HexFormat.of().parseHex(input.get("keyHex").asText()));
        return JSON.createObjectNode().put("murmur2", murmur2).put("toPositive", Utils.toPositive(murmur2))
            .put("partition", Utils.toPositive(murmur2) % input.get("numPartitions").asInt());
    }
}
