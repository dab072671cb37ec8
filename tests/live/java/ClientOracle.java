import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractStickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Kafka's own client assignors (2.4 and later) behind the replay format. {@code order} may also be {@code leader}: then
 * the assignor is called as a group's leader calls it, with a Cluster. What a release does not have (racks before 3.5, the
 * subscription's generation before 3.4, a lasting newest generation before 3.0) is neither told to it nor answered.
 */
public final class ClientOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Optional<Field> NEWEST_GENERATION = field(AbstractStickyAssignor.class, "maxGeneration");
    private static final Optional<Constructor<Subscription>> WITH_RACK = withRack();

    private ClientOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve(ClientOracle::assigned);
    }

    private static ObjectNode assigned(String strategy, JsonNode input) throws ReflectiveOperationException {
        AbstractPartitionAssignor assignor = assignor(strategy);
        Optional<Field> prefersRacks = field(AbstractPartitionAssignor.class, "preferRackAwareLogic");
        if (input.path("preferRackAware").asBoolean(false) && prefersRacks.isPresent())
            prefersRacks.get().setBoolean(assignor, true);
        if (assignor instanceof AbstractStickyAssignor && NEWEST_GENERATION.isPresent())
            NEWEST_GENERATION.get().setInt(assignor, input.path("maxGenerationBefore").asInt(-1));
        String order = input.path("order").asText("given");
        Map<String, List<PartitionInfo>> topics = order.equals("given") ? new LinkedHashMap<>() : new HashMap<>();
        for (JsonNode topic : input.get("topics"))
            topics.put(topic.get("topic").asText(), partitions(topic));
        Map<String, Subscription> members = order.equals("given") ? new LinkedHashMap<>() : new HashMap<>();
        for (JsonNode member : input.get("members"))
            members.put(member.get("id").asText(), subscription(strategy, member));
        Map<String, List<TopicPartition>> assignment = order.equals("leader")
            ? asLeader(assignor, topics, members) : asTested(assignor, topics, members);
        ObjectNode output = JSON.createObjectNode();
        if (order.equals("hash")) {
            topics.keySet().forEach(output.putArray("topicOrder")::add);
            members.keySet().forEach(output.putArray("memberOrder")::add);
        }
        ObjectNode lists = output.putObject("assignment");
        assignment.forEach((member, partitions) -> lists.set(member, runs(partitions)));
        if (assignor instanceof AbstractStickyAssignor)
            describe((AbstractStickyAssignor) assignor, output);
        return output;
    }

    private static AbstractPartitionAssignor assignor(String strategy) {
        return switch (strategy) {
            case "client_range" -> new RangeAssignor();
            case "client_roundrobin" -> new RoundRobinAssignor();
            case "client_sticky" -> new StickyAssignor();
            case "client_cooperative_sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("unknown strategy " + strategy);
        };
    }

    private static Map<String, List<TopicPartition>> asLeader(
            AbstractPartitionAssignor assignor, Map<String, List<PartitionInfo>> topics, Map<String, Subscription> members) {
        List<PartitionInfo> all = new ArrayList<>();
        topics.values().forEach(all::addAll);
        Cluster cluster = new Cluster("cluster", List.of(), all, Set.of(), Set.of());
        Map<String, List<TopicPartition>> assignment = new HashMap<>();
        assignor.assign(cluster, new GroupSubscription(members)).groupAssignment()
            .forEach((member, assigned) -> assignment.put(member, assigned.partitions()));
        return assignment;
    }

    /** With maps; those of 3.5 and later hold a topic's partitions, earlier ones how many there are. */
    @SuppressWarnings("unchecked")
    private static Map<String, List<TopicPartition>> asTested(
            AbstractPartitionAssignor assignor, Map<String, List<PartitionInfo>> topics, Map<String, Subscription> members)
            throws ReflectiveOperationException {
        for (Method method : AbstractPartitionAssignor.class.getMethods())
            if (method.getName().equals("assignPartitions"))
                return (Map<String, List<TopicPartition>>) called(method, assignor, topics, members);
        Map<String, Integer> counts = topics instanceof LinkedHashMap ? new LinkedHashMap<>() : new HashMap<>();
        topics.forEach((topic, partitions) -> counts.put(topic, partitions.size()));
        return assignor.assign(counts, members);
    }

    private static Object called(Method method, Object owner, Object... arguments) throws ReflectiveOperationException {
        try {
            return method.invoke(owner, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof RuntimeException)
                throw (RuntimeException) thrown.getCause();
            throw thrown;
        }
    }

    private static void describe(AbstractStickyAssignor assignor, ObjectNode output) throws ReflectiveOperationException {
        Optional<Field> transferring = field(AbstractStickyAssignor.class, "partitionsTransferringOwnership");
        boolean isConstrained = transferring.isPresent() && transferring.get().get(assignor) != null;
        if (transferring.isPresent())
            output.put("constrained", isConstrained);
        if (NEWEST_GENERATION.isPresent())
            output.put("maxGenerationAfter", NEWEST_GENERATION.get().getInt(assignor));
        if (!isConstrained && assignor instanceof StickyAssignor)
            output.put("isSticky", assignor.isSticky());
    }

    private static List<PartitionInfo> partitions(JsonNode topic) {
        List<PartitionInfo> partitions = new ArrayList<>();
        for (int p = 0; p < topic.get("n").asInt(); p++) {
            JsonNode racks = topic.path("racks").path(p);
            Node[] replicas = new Node[racks.size()];
            for (int r = 0; r < replicas.length; r++)
                replicas[r] = new Node(r, "host" + r, 9092, racks.get(r).isNull() ? null : racks.get(r).asText());
            // Without a leader: Clusters of 2.4 look theirs up among the nodes.
            partitions.add(new PartitionInfo(topic.get("topic").asText(), p, null, replicas, replicas));
        }
        return partitions;
    }

    private static Subscription subscription(String strategy, JsonNode member) throws ReflectiveOperationException {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        JsonNode data = member.path("memberData");
        boolean isSticky = strategy.equals("client_sticky");
        ByteBuffer userData = isSticky ? stickyData(data) : generationData(data);
        Optional<String> rack = member.hasNonNull("rack") ? Optional.of(member.get("rack").asText()) : Optional.empty();
        List<TopicPartition> owned = pairs(member.path("owned"));
        Subscription subscription = WITH_RACK.isPresent()
            ? WITH_RACK.get().newInstance(topics, userData, owned, member.path("generation").asInt(-1), rack)
            : new Subscription(topics, userData, owned);
        if (member.hasNonNull("instanceId"))
            subscription.setGroupInstanceId(Optional.of(member.get("instanceId").asText()));
        return subscription;
    }

    /** What StickyAssignor writes into user data, topics in the order given: version 1, or 0 without a generation. */
    private static ByteBuffer stickyData(JsonNode data) {
        boolean hasGeneration = data.hasNonNull("generation");
        if (data.path("owned").isEmpty() && !hasGeneration)
            return null;
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
        buffer.putInt(data.path("owned").size());
        for (JsonNode run : data.path("owned")) {
            byte[] name = run.get(0).asText().getBytes(StandardCharsets.UTF_8);
            buffer.putShort((short) name.length).put(name).putInt(run.get(1).size());
            run.get(1).forEach(partition -> buffer.putInt(partition.asInt()));
        }
        if (hasGeneration)
            buffer.putInt(data.get("generation").asInt());
        buffer.flip();
        return buffer;
    }

    private static ByteBuffer generationData(JsonNode data) {
        return data.hasNonNull("generation") ? ByteBuffer.allocate(4).putInt(0, data.get("generation").asInt()) : null;
    }

    private static List<TopicPartition> pairs(JsonNode runs) {
        List<TopicPartition> pairs = new ArrayList<>();
        for (JsonNode run : runs)
            run.get(1).forEach(partition -> pairs.add(new TopicPartition(run.get(0).asText(), partition.asInt())));
        return pairs;
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

    private static Optional<Field> field(Class<?> owner, String name) {
        for (Field field : owner.getDeclaredFields())
            if (field.getName().equals(name)) {
                field.setAccessible(true);
                return Optional.of(field);
            }
        return Optional.empty();
    }

    private static Optional<Constructor<Subscription>> withRack() {
        try {
            return Optional.of(Subscription.class.getConstructor(
                List.class, ByteBuffer.class, List.class, int.class, Optional.class));
        } catch (NoSuchMethodException earlier) {
            return Optional.empty();
        }
    }
}
