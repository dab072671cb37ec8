import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The group coordinator's StickyTaskAssignor of Kafka 4.2 and later behind the replay format. Packages and records
 * around it changed in 4.4, so that all but its own package is found by reflection.
 */
public final class StreamsOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PACKAGE = "org.apache.kafka.coordinator.group.streams.assignor.";
    private static final String API = "org.apache.kafka.coordinator.group.api.streams.assignor.";
    private static final boolean READS_OFFSETS = exists(API + "TaskAssignor");  // from 4.4 on

    private StreamsOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve((strategy, input) -> assigned(input));
    }

    private static ObjectNode assigned(JsonNode input) throws ReflectiveOperationException {
        boolean isHash = input.path("order").asText("given").equals("hash");
        Map<String, Object> members = isHash ? new HashMap<>() : new LinkedHashMap<>();
        for (JsonNode member : input.get("members"))
            members.put(member.get("id").asText(), member(member));
        int standbys = input.path("numStandbyReplicas").asInt(0);
        Object configs = READS_OFFSETS
            ? made(PACKAGE + "AssignmentConfigsImpl", standbys, List.of())
            : Map.of("num.standby.replicas", String.valueOf(standbys));
        Object group = made(PACKAGE + "GroupSpecImpl", members, configs);
        Object answer = call(made(PACKAGE + "StickyTaskAssignor"), "assign", group, describer(input));
        ObjectNode output = JSON.createObjectNode();
        if (isHash)
            members.keySet().forEach(output.putArray("memberOrder")::add);
        ObjectNode lists = output.putObject("assignment");
        for (Map.Entry<?, ?> given : ((Map<?, ?>) call(answer, "members")).entrySet()) {
            ObjectNode kinds = lists.putObject((String) given.getKey());
            kinds.set("active", listed(call(given.getValue(), "activeTasks")));
            kinds.set("standby", listed(call(given.getValue(), "standbyTasks")));
        }
        return output;
    }

    private static Object member(JsonNode member) throws ReflectiveOperationException {
        Optional<String> instance = Optional.ofNullable(member.path("instanceId").textValue());
        Optional<String> rack = Optional.ofNullable(member.path("rack").textValue());
        String process = member.get("processId").asText();
        Map<String, Set<Integer>> active = tasks(member.path("active")), standby = tasks(member.path("standby"));
        if (!READS_OFFSETS)
            return made(PACKAGE + "AssignmentMemberSpec",
                instance, rack, active, standby, Map.of(), process, Map.of(), Map.of(), Map.of());
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        for (JsonNode subtopology : member.path("taskOffsets")) {
            Map<Integer, Long> sums = offsets.computeIfAbsent(subtopology.get(0).asText(), id -> new HashMap<>());
            subtopology.get(1).forEach(pair -> sums.put(pair.get(0).asInt(), pair.get(1).asLong()));
        }
        return made(PACKAGE + "MemberMetadataAndStateImpl",
            instance, rack, process, Map.of(), active, standby, Map.of(), offsets, Map.of());
    }

    private static Map<String, Set<Integer>> tasks(JsonNode listed) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        for (JsonNode subtopology : listed) {
            Set<Integer> partitions = tasks.computeIfAbsent(subtopology.get(0).asText(), id -> new TreeSet<>());
            subtopology.get(1).forEach(partition -> partitions.add(partition.asInt()));
        }
        return tasks;
    }

    private static Object describer(JsonNode input) throws ReflectiveOperationException {
        Map<String, JsonNode> known = new LinkedHashMap<>();
        input.get("subtopologies").forEach(subtopology -> known.put(subtopology.get("id").asText(), subtopology));
        Class<?> kind = Class.forName((READS_OFFSETS ? API : PACKAGE) + "TopologyDescriber");
        return Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (self, method, given) ->
            switch (method.getName()) {
                case "subtopologies" -> new ArrayList<>(known.keySet());
                case "maxNumInputPartitions" -> known.get((String) given[0]).get("n").asInt();
                case "isStateful" -> known.get((String) given[0]).get("stateful").asBoolean();
                default -> throw new IllegalStateException("it asks for " + method.getName());
            });
    }

    private static ObjectNode listed(Object tasks) {
        ObjectNode lists = JSON.createObjectNode();
        new TreeMap<>((Map<?, ?>) tasks).forEach((subtopology, partitions) -> {
            ArrayNode numbers = lists.putArray((String) subtopology);
            new TreeSet<>((Set<?>) partitions).forEach(partition -> numbers.add((Integer) partition));
        });
        return lists;
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    /** A new object of a class with one constructor, as records have it. */
    private static Object made(String name, Object... given) throws ReflectiveOperationException {
        return Class.forName(name).getConstructors()[0].newInstance(given);
    }

    private static Object call(Object receiver, String name, Object... given) throws ReflectiveOperationException {
        for (var method : receiver.getClass().getMethods())
            if (method.getName().equals(name) && method.getParameterCount() == given.length && !method.isBridge())
                try {
                    return method.invoke(receiver, given);
                } catch (InvocationTargetException thrown) {
                    if (thrown.getCause() instanceof RuntimeException refusal)
                        throw refusal;
                    throw thrown;
                }
        throw new NoSuchMethodException(name);
    }
}
