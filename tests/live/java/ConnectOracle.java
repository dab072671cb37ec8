package org.apache.kafka.connect.runtime.distributed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.GroupRebalanceConfig;
import org.apache.kafka.clients.consumer.internals.AbstractCoordinator;
import org.apache.kafka.common.message.JoinGroupResponseData.JoinGroupResponseMember;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.connect.storage.ClusterConfigState;
import org.apache.kafka.connect.storage.ConfigBackingStore;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Connect's assignors behind the replay format, of Kafka 3.4 and later. Every worker is a WorkerCoordinator without a
 * network: it says what it runs as bytes, the leader's answer comes to it as bytes. Constructors differ from release to
 * release: they are filled by the types of their parameters.
 */
public final class ConnectOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static long now;
    private static ClusterConfigState configured;

    private ConnectOracle() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode reply = JSON.createObjectNode();
            reply.set("id", request.get("id"));
            JsonNode input = request.get("input");
            reply.set("output", request.get("strategy").asText().equals("connect_eager") ? eager(input) : rounds(input));
            out.println(JSON.writeValueAsString(reply));
            out.flush();
        }
    }

    private static ObjectNode eager(JsonNode input) throws Exception {
        configured = configuration(input.get("connectors"));
        List<JoinGroupResponseMember> members = new ArrayList<>();
        WorkerCoordinator leader = null;
        for (JsonNode worker : input.get("workers")) {
            WorkerCoordinator one = worker(ConnectProtocolCompatibility.EAGER, 0);
            members.add(member(worker.asText(), one));
            leader = one;
        }
        String leaderId = members.get(members.size() - 1).memberId();
        Map<String, ByteBuffer> answer = leader.onLeaderElected(leaderId, "default", members, false);
        ObjectNode output = JSON.createObjectNode();
        ObjectNode lists = output.putObject("assignment");
        for (JoinGroupResponseMember member : members) {
            ConnectProtocol.Assignment given = ConnectProtocol.deserializeAssignment(answer.get(member.memberId()));
            lists.set(member.memberId(), work(given.connectors(), given.tasks()));
        }
        return output;
    }

    private static ObjectNode rounds(JsonNode input) throws Exception {
        int maxDelay = input.path("maxDelayMs").asInt(300_000);
        Map<String, WorkerCoordinator> workers = new TreeMap<>();
        configured = configuration(JSON.createArrayNode());
        var started = input.path("running").fields();
        while (started.hasNext()) {
            var entry = started.next();
            WorkerCoordinator worker = worker(ConnectProtocolCompatibility.SESSIONED, maxDelay);
            workers.put(entry.getKey(), worker);
            List<String> connectors = new ArrayList<>();
            entry.getValue().path("connectors").forEach(name -> connectors.add(name.asText()));
            List<ConnectorTaskId> tasks = new ArrayList<>();
            entry.getValue().path("tasks").forEach(task -> tasks.add(new ConnectorTaskId(task.get(0).asText(), task.get(1).asInt())));
            Field field = WorkerCoordinator.class.getDeclaredField("assignmentSnapshot");
            field.setAccessible(true);
            field.set(worker, new ExtendedAssignment((short) 2, (short) 0, "somebody", "http://somebody", 1L,
                connectors, tasks, new ArrayList<>(), new ArrayList<>(), 0));
        }
        ObjectNode output = JSON.createObjectNode();
        ArrayNode answers = output.putArray("rounds");
        int generation = 0;
        for (JsonNode round : input.get("rounds")) {
            generation += 1;
            now = round.get("nowMs").asLong();
            configured = configuration(round.get("connectors"));
            List<JoinGroupResponseMember> members = new ArrayList<>();
            for (JsonNode id : round.get("workers")) {
                if (!workers.containsKey(id.asText()))
                    workers.put(id.asText(), worker(ConnectProtocolCompatibility.SESSIONED, maxDelay));
                members.add(member(id.asText(), workers.get(id.asText())));
            }
            String leaderId = round.get("leader").asText();
            WorkerCoordinator leader = workers.get(leaderId);
            setGeneration(leader, generation, leaderId);
            Map<String, ByteBuffer> answer = leader.onLeaderElected(leaderId, "sessioned", members, false);
            Set<String> missed = new HashSet<>();
            round.path("missed").forEach(id -> missed.add(id.asText()));
            ObjectNode told = answers.addObject();
            ObjectNode assigned = told.putObject("assigned");
            ObjectNode revoked = told.putObject("revoked");
            for (JoinGroupResponseMember member : members) {
                String id = member.memberId();
                ExtendedAssignment given = IncrementalCooperativeConnectProtocol.deserializeAssignment(answer.get(id).duplicate());
                told.put("delayMs", given.delay());
                assigned.set(id, work(given.connectors(), given.tasks()));
                List<String> connectors = new ArrayList<>(given.revokedConnectors());
                List<ConnectorTaskId> tasks = new ArrayList<>(given.revokedTasks());
                Collections.sort(connectors);
                Collections.sort(tasks);
                if (connectors.size() + tasks.size() > 0)
                    revoked.set(id, work(connectors, tasks));
                if (!missed.contains(id))
                    workers.get(id).onJoinComplete(generation, id, "sessioned", answer.get(id).duplicate());
            }
        }
        ObjectNode running = output.putObject("running");
        for (var worker : workers.entrySet()) {
            ExtendedAssignment runs = snapshot(worker.getValue());
            running.set(worker.getKey(), runs == null ? work(List.of(), List.of()) : work(runs.connectors(), runs.tasks()));
        }
        return output;
    }

    private static JoinGroupResponseMember member(String id, WorkerCoordinator worker) {
        byte[] said = worker.metadata().iterator().next().metadata();
        return new JoinGroupResponseMember().setMemberId(id).setMetadata(said);
    }

    private static ObjectNode work(Collection<String> connectors, Collection<ConnectorTaskId> tasks) {
        ObjectNode lists = JSON.createObjectNode();
        ArrayNode names = lists.putArray("connectors");
        connectors.forEach(names::add);
        ArrayNode numbers = lists.putArray("tasks");
        tasks.forEach(task -> numbers.addArray().add(task.connector()).add(task.task()));
        return lists;
    }

    private static ExtendedAssignment snapshot(WorkerCoordinator worker) throws Exception {
        Field field = WorkerCoordinator.class.getDeclaredField("assignmentSnapshot");
        field.setAccessible(true);
        return (ExtendedAssignment) field.get(worker);
    }

    private static void setGeneration(WorkerCoordinator worker, int generation, String id) throws Exception {
        for (Class<?> inner : AbstractCoordinator.class.getDeclaredClasses()) {
            if (!inner.getSimpleName().equals("Generation"))
                continue;
            Constructor<?> make = inner.getDeclaredConstructors()[0];
            make.setAccessible(true);
            Field field = AbstractCoordinator.class.getDeclaredField("generation");
            field.setAccessible(true);
            field.set(worker, make.newInstance(generation, id, "sessioned"));
        }
    }

    private static ClusterConfigState configuration(JsonNode connectors) throws Exception {
        Map<String, Integer> counts = new HashMap<>();
        Map<String, Map<String, String>> configs = new HashMap<>();
        connectors.forEach(one -> {
            counts.put(one.get(0).asText(), one.get(1).asInt());
            configs.put(one.get(0).asText(), Map.of());
        });
        return (ClusterConfigState) filled(ClusterConfigState.class, new ArrayList<>(List.of(counts, configs)));
    }

    private static WorkerCoordinator worker(ConnectProtocolCompatibility protocol, int maxDelay) throws Exception {
        Object time = proxy(Time.class, (self, method, given) ->
            method.getName().equals("milliseconds") ? (Object) now : method.invoke(Time.SYSTEM, given));
        Object store = proxy(ConfigBackingStore.class, (self, method, given) ->
            method.getName().equals("snapshot") ? configured : null);
        Object listener = proxy(WorkerRebalanceListener.class, (self, method, given) -> null);
        Object group = filled(GroupRebalanceConfig.class, new ArrayList<>(List.of(10_000, 60_000, 3_000)));
        return (WorkerCoordinator) filled(WorkerCoordinator.class,
            new ArrayList<>(Arrays.asList(group, time, store, listener, protocol, new Metrics(), maxDelay)));
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    /** The shortest constructor that takes no AbstractConfig, with the first of {@code given} that fits each parameter. */
    private static Object filled(Class<?> type, List<Object> given) throws Exception {
        Constructor<?> shortest = Arrays.stream(type.getConstructors())
            .filter(make -> Arrays.stream(make.getParameterTypes()).noneMatch(one -> one.getSimpleName().equals("AbstractConfig")))
            .min(Comparator.comparingInt(Constructor::getParameterCount)).orElseThrow();
        Object[] values = new Object[shortest.getParameterCount()];
        for (int i = 0; i < values.length; i++)
            values[i] = value(shortest.getParameterTypes()[i], given);
        return shortest.newInstance(values);
    }

    private static Object value(Class<?> type, List<Object> given) throws Exception {
        Class<?> boxed = type == int.class ? Integer.class : type;
        for (int i = 0; i < given.size(); i++) {
            if (boxed.isInstance(given.get(i)))
                return given.remove(i);
        }
        if (type == long.class || type == Long.class)
            return 1L;
        if (type == int.class || type == Integer.class)
            return 1_000;
        if (type == boolean.class)
            return true;
        if (type == String.class)
            return "http://worker";
        if (type == Optional.class)
            return Optional.empty();
        if (type == Map.class)
            return Map.of();
        if (type == Set.class)
            return Set.of();
        if (type.getSimpleName().equals("LogContext"))
            return type.getConstructor(String.class).newInstance("");
        return null;
    }
}
