import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;
import org.apache.kafka.streams.state.HostInfo;

/**
 * Random user data of classic Kafka Streams members as Kafka's own classes write it, a JSON object a line: the bytes, and
 * what the same classes read in them. Arguments: number of lines, seed.
 */
public final class StreamsUserData {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StreamsUserData() { }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(Long.parseLong(arguments[1]));
        for (int line = 0; line < Integer.parseInt(arguments[0]); line++) {
            int version = 1 + line / 2 % 11;
            ObjectNode told = line % 2 == 0 ? subscription(version, random) : assignment(version, random);
            System.out.println(JSON.writeValueAsString(told.put("version", version)));
        }
    }

    private static ObjectNode subscription(int version, Random random) {
        Map<TaskId, Long> sums = new LinkedHashMap<>();
        for (TaskId task : tasks(version, random))
            sums.put(task, random.nextInt(3) == 0 ? -2L : random.nextInt(9) == 0 ? -3L : random.nextLong() >>> (1 + random.nextInt(62)));
        Map<String, String> tags = new TreeMap<>();
        if (version >= 11 && random.nextBoolean())
            tags.put("zone", "zone-" + random.nextInt(3));
        UUID process = new UUID(random.nextLong(), random.nextLong());
        SubscriptionInfo written = new SubscriptionInfo(version, 11, new ProcessId(process),
            random.nextBoolean() ? null : "host:8080", sums, (byte) random.nextInt(128), 0, tags);
        ByteBuffer bytes = written.encode();
        SubscriptionInfo read = SubscriptionInfo.decode(bytes.duplicate());
        ObjectNode told = node("subscription", bytes).put("process_id", read.processId().id().toString());
        told.set("active", listed(read.prevTasks()));
        told.set("standby", listed(read.standbyTasks()));
        ObjectNode offsets = told.putObject("offset_sums");
        if (version >= 7)
            read.taskOffsetSums().forEach((task, sum) -> offsets.put(task.toString(), sum));
        told.set("tags", JSON.valueToTree(read.clientTags()));
        return told;
    }

    private static ObjectNode assignment(int version, Random random) {
        List<TaskId> active = new ArrayList<>();
        for (TaskId task : tasks(version, random))
            for (int topic = random.nextInt(2); topic >= 0; topic--)
                active.add(task);
        Map<TaskId, Set<TopicPartition>> standby = new LinkedHashMap<>();
        for (TaskId task : tasks(version, random)) {
            standby.put(task, new LinkedHashSet<>());
            for (int store = random.nextInt(3); store > 0; store--)
                standby.get(task).add(new TopicPartition("app-store-" + store + "-changelog", task.partition()));
        }
        Map<HostInfo, Set<TopicPartition>> hosts = Map.of(new HostInfo("host", 8080), Set.of(new TopicPartition("orders", 0)));
        ByteBuffer bytes = new AssignmentInfo(version, active, standby, hosts, hosts, 0).encode();
        AssignmentInfo read = AssignmentInfo.decode(bytes.duplicate());
        ObjectNode told = node("assignment", bytes);
        told.set("active", listed(read.activeTasks()));
        told.set("standby", listed(read.standbyTasks().keySet()));
        return told;
    }

    private static ObjectNode node(String kind, ByteBuffer bytes) {
        byte[] copy = new byte[bytes.duplicate().rewind().remaining()];
        bytes.duplicate().rewind().get(copy);
        return JSON.createObjectNode().put("kind", kind).put("hex", HexFormat.of().formatHex(copy));
    }

    private static ArrayNode listed(Iterable<TaskId> tasks) {
        Set<String> names = new TreeSet<>();
        tasks.forEach(task -> names.add(task.toString()));
        return JSON.valueToTree(names);
    }

    private static Set<TaskId> tasks(int version, Random random) {
        Set<TaskId> found = new LinkedHashSet<>();
        for (int count = random.nextInt(6); count > 0; count--) {
            int subtopology = random.nextInt(3);
            int partition = random.nextInt(12);
            boolean isNamed = version >= 10 && random.nextInt(4) == 0;
            found.add(isNamed ? new TaskId(subtopology, partition, "part-" + random.nextInt(2)) : new TaskId(subtopology, partition));
        }
        return found;
    }
}
