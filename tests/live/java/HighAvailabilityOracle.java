import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.streams.processor.TaskId;

/**
 * HighAvailabilityTaskAssignor of Kafka Streams 3.3 and later, and how StreamsPartitionAssignor deals an instance's tasks
 * to its threads, behind the replay format. Classes are found by reflection: most are internal, and 3.8 renamed some.
 */
public final class HighAvailabilityOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PROCESSOR = "org.apache.kafka.streams.processor.";
    private static final String INTERNAL = PROCESSOR + "internals.assignment.";
    private static final Class<?> PROCESS_ID = found(PROCESSOR + "assignment.ProcessId");  // from 3.8 on
    private static final Class<?> CONFIGS = PROCESS_ID != null
        ? found(PROCESSOR + "assignment.AssignmentConfigs") : found(INTERNAL + "AssignorConfiguration$AssignmentConfigs");

    private static final boolean KNOWS_PROCESS = found(INTERNAL + "RackAwareTaskAssignor") != null;  // from 3.6 on

    private HighAvailabilityOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve((strategy, input) -> assigned(input));
    }

    private static ObjectNode assigned(JsonNode input) throws ReflectiveOperationException {
        boolean isHash = input.path("order").asText("given").equals("hash");
        Map<String, JsonNode> members = isHash ? new HashMap<>() : new LinkedHashMap<>();
        input.get("members").forEach(member -> members.put(member.get("id").asText(), member));
        Map<Object, Object> clients = new HashMap<>();
        Map<Object, Set<String>> threads = new HashMap<>();
        for (JsonNode member : members.values()) {
            Object process = process(member);
            if (!clients.containsKey(process))
                clients.put(process, client(process, JSON.convertValue(member.path("tags"), Map.class)));
            Object state = clients.get(process);
            threads.computeIfAbsent(process, id -> new TreeSet<>()).add(member.get("id").asText());
            call(state, "incrementCapacity");
            call(state, "addPreviousTasksAndOffsetSums", member.get("id").asText(), sums(member.path("offsetSums")));
        }
        Map<TaskId, Long> ends = sums(input.get("stateful"));
        Set<TaskId> all = new LinkedHashSet<>(ends.keySet());
        for (JsonNode subtopology : input.get("stateless"))
            subtopology.get(1).forEach(partition -> all.add(task(subtopology.get(0).asText(), partition.asInt())));
        for (Map.Entry<Object, Object> client : clients.entrySet())
            call(client.getValue(), "computeTaskLags", client.getKey(), ends);
        Object configs = configs(input);
        List<Object> given = new ArrayList<>(List.of(clients, all, new LinkedHashSet<>(ends.keySet()), configs));
        Object assignor = made(found(INTERNAL + "HighAvailabilityTaskAssignor"));
        if (KNOWS_PROCESS)
            given.add(3, withoutRacks(configs));
        boolean isProbing = (boolean) call(assignor, "assign", given.toArray());
        return told(isHash ? members.keySet() : null, clients, threads, isProbing);
    }

    private static ObjectNode told(Set<String> order, Map<Object, Object> clients, Map<Object, Set<String>> threads,
                                   boolean isProbing) throws ReflectiveOperationException {
        ObjectNode output = JSON.createObjectNode();
        if (order != null)
            order.forEach(output.putArray("memberOrder")::add);
        output.put("probing", isProbing);
        ObjectNode processes = output.putObject("processes"), lists = output.putObject("assignment");
        for (Map.Entry<Object, Object> client : clients.entrySet()) {
            Object state = client.getValue();
            put(processes, client.getKey().toString(), tasks(call(state, "activeTasks")), tasks(call(state, "standbyTasks")));
            Set<String> consumers = threads.get(client.getKey());
            Map<String, Integer> load = new HashMap<>();
            Map<String, List<TaskId>> active = dealt(tasks(call(state, "statefulActiveTasks")), true, consumers, state, load);
            Map<String, List<TaskId>> standby = dealt(tasks(call(state, "standbyTasks")), true, consumers, state, load);
            dealt(tasks(call(state, "statelessActiveTasks")), false, consumers, state, load)
                .forEach((consumer, stateless) -> active.get(consumer).addAll(stateless));
            consumers.forEach(consumer -> put(lists, consumer, active.get(consumer), standby.get(consumer)));
        }
        return output;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, List<TaskId>> dealt(Collection<TaskId> tasks, boolean isStateful, Set<String> consumers,
                                                   Object state, Map<String, Integer> load) throws ReflectiveOperationException {
        Class<?> owner = found(PROCESSOR + "internals.StreamsPartitionAssignor");
        return (Map<String, List<TaskId>>) invoked(owner, null, "assignTasksToThreads", tasks, isStateful, consumers, state, load);
    }

    private static void put(ObjectNode lists, String name, Collection<TaskId> active, Collection<TaskId> standby) {
        lists.putObject(name).<ObjectNode>set("active", listed(active)).set("standby", listed(standby));
    }

    private static ObjectNode listed(Collection<TaskId> tasks) {
        Map<String, ArrayNode> lists = new TreeMap<>();
        for (TaskId task : new TreeSet<>(tasks)) {
            String name = task.toString();
            lists.computeIfAbsent(name.substring(0, name.lastIndexOf('_')), id -> JSON.createArrayNode()).add(task.partition());
        }
        return JSON.valueToTree(lists);
    }

    private static Map<TaskId, Long> sums(JsonNode listed) {
        Map<TaskId, Long> sums = new LinkedHashMap<>();
        for (JsonNode subtopology : listed)
            subtopology.get(1).forEach(
                pair -> sums.put(task(subtopology.get(0).asText(), pair.get(0).asInt()), pair.get(1).asLong()));
        return sums;
    }

    private static TaskId task(String subtopology, int partition) {
        int at = subtopology.lastIndexOf("__");
        return at < 0 ? new TaskId(Integer.parseInt(subtopology), partition)
            : new TaskId(Integer.parseInt(subtopology.substring(at + 2)), partition, subtopology.substring(0, at));
    }

    private static Object process(JsonNode member) throws ReflectiveOperationException {
        UUID id = UUID.fromString(member.get("processId").asText());
        return PROCESS_ID == null ? id : made(PROCESS_ID, id);
    }

    private static Object client(Object process, Map<?, ?> tags) throws ReflectiveOperationException {
        Class<?> state = found(INTERNAL + "ClientState");
        Map<?, ?> told = tags == null ? Map.of() : tags;
        return KNOWS_PROCESS ? made(state, process, told) : made(state, told);
    }

    private static Object configs(JsonNode input) throws ReflectiveOperationException {
        List<String> tags = new ArrayList<>();
        input.path("rackAwareTags").forEach(tag -> tags.add(tag.asText()));
        return made(CONFIGS, input.path("acceptableRecoveryLag").asLong(10_000), input.path("maxWarmupReplicas").asInt(2),
            input.path("numStandbyReplicas").asInt(0), 600_000L, tags);
    }

    private static Object withoutRacks(Object configs) throws ReflectiveOperationException {
        Class<?> racks = found(INTERNAL + "RackAwareTaskAssignor");
        Class<?>[] kinds = racks.getConstructors()[0].getParameterTypes();
        Object[] given = new Object[kinds.length];
        for (int i = 0; i < kinds.length; i++)
            given[i] = kinds[i] == Map.class ? Map.of() : kinds[i] == CONFIGS ? configs
                : kinds[i].getSimpleName().equals("Time") ? kinds[i].getField("SYSTEM").get(null) : null;
        return made(racks, given);
    }

    @SuppressWarnings("unchecked")
    private static Collection<TaskId> tasks(Object tasks) {
        return (Collection<TaskId>) tasks;
    }

    private static Class<?> found(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    private static Object made(Class<?> kind, Object... given) throws ReflectiveOperationException {
        for (var constructor : kind.getDeclaredConstructors())
            if (takes(constructor.getParameterTypes(), given))
                return opened(constructor).newInstance(given);
        throw new NoSuchMethodException(kind.getName());
    }

    private static Object call(Object receiver, String name, Object... given) throws ReflectiveOperationException {
        return invoked(receiver.getClass(), receiver, name, given);
    }

    private static Object invoked(Class<?> owner, Object receiver, String name, Object... given) throws ReflectiveOperationException {
        for (Method method : owner.getDeclaredMethods())
            if (method.getName().equals(name) && !method.isBridge() && takes(method.getParameterTypes(), given)
                && Modifier.isStatic(method.getModifiers()) == (receiver == null))
                try {
                    return opened(method).invoke(receiver, given);
                } catch (InvocationTargetException thrown) {
                    if (thrown.getCause() instanceof RuntimeException refusal)
                        throw refusal;
                    throw thrown;
                }
        throw new NoSuchMethodException(name);
    }

    private static boolean takes(Class<?>[] kinds, Object[] given) {
        if (kinds.length != given.length)
            return false;
        for (int i = 0; i < kinds.length; i++)
            if (kinds[i].isPrimitive() ? !isSimple(given[i]) : given[i] != null && !kinds[i].isInstance(given[i]))
                return false;
        return true;
    }

    private static boolean isSimple(Object given) {
        return given instanceof Number || given instanceof Boolean;
    }

    private static <T extends AccessibleObject> T opened(T member) {
        member.setAccessible(true);
        return member;
    }
}
