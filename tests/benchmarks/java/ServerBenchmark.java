import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's own server assignors, warmed, on the cells of its own benchmark; and Utils.murmur2 with the modulo. One JSON
 * question a line, one answer a line: nanoseconds of this thread's CPU an operation (median; garbage collection runs on
 * other threads and is not counted) and a checksum of the answer. Members share their topic sets, which are plain sets
 * of ids: what Kafka's benchmark adds by looking names up is left out.
 */
public final class ServerBenchmark {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long WARM_UP_NS = 700_000_000L;
    private static final long MEASURED_NS = 700_000_000L;
    private static final int BUCKETS = 5;

    private ServerBenchmark() { }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode cell = JSON.readTree(line);
            System.out.println(cell.has("keyBytes") ? hashes(cell) : assignments(cell));
            System.out.flush();
        }
    }

    private static long mixed(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    private static String assignments(JsonNode cell) {
        PartitionAssignor assignor = cell.get("assignor").asText().equals("range") ? new RangeAssignor() : new UniformAssignor();
        int members = cell.get("members").asInt();
        int topics = cell.get("topics").asInt();
        int count = (int) ((long) members * cell.get("ratio").asInt() / topics);
        boolean isHomogeneous = cell.get("homogeneous").asBoolean();
        boolean isIncremental = cell.get("incremental").asBoolean();
        Uuid[] ids = new Uuid[topics];
        Map<Uuid, Integer> index = new HashMap<>();
        for (int i = 0; i < topics; i++) {
            ids[i] = new Uuid(mixed(2L * i), mixed(2L * i + 1));
            index.put(ids[i], i);
        }
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topicId) {
                return index.containsKey(topicId) ? count : -1;
            }

            @Override
            public Set<String> racksForPartition(Uuid topicId, int partition) {
                return Set.of();
            }
        };
        int first = isIncremental ? members - 1 : members;
        Map<String, Set<Uuid>> subscriptions = subscriptions(ids, first, isHomogeneous);
        GroupSpec group = group(subscriptions, Map.of(), isHomogeneous, index);
        if (isIncremental) {
            GroupAssignment before = assignor.assign(group, describer);
            subscriptions.put("newMember", subscriptions.get("member" + (first - 1)));
            group = group(subscriptions, held(before, index), isHomogeneous, index);
        }
        return timed(assignor, group, describer, index);
    }

    private static Map<String, Set<Uuid>> subscriptions(Uuid[] ids, int members, boolean isHomogeneous) {
        int buckets = isHomogeneous ? 1 : Math.min(BUCKETS, members);
        int topicsEach = (ids.length + buckets - 1) / buckets;
        int membersEach = (members + buckets - 1) / buckets;
        Map<String, Set<Uuid>> subscriptions = new java.util.LinkedHashMap<>();
        Map<Integer, Set<Uuid>> shared = new HashMap<>();
        for (int i = 0; i < members; i++) {
            int bucket = i / membersEach;
            subscriptions.put("member" + i, shared.computeIfAbsent(bucket, b -> {
                Set<Uuid> topics = new HashSet<>();
                for (int t = b * topicsEach; t < Math.min(ids.length, (b + 1) * topicsEach); t++)
                    topics.add(ids[t]);
                return topics;
            }));
        }
        return subscriptions;
    }

    /** What members hold, put into maps topic by topic and partition by partition. */
    private static Map<String, Map<Uuid, Set<Integer>>> held(GroupAssignment before, Map<Uuid, Integer> index) {
        Map<String, Map<Uuid, Set<Integer>>> held = new HashMap<>();
        before.members().forEach((member, assignment) -> {
            TreeMap<Integer, Map.Entry<Uuid, Set<Integer>>> sorted = new TreeMap<>();
            assignment.partitions().entrySet().forEach(entry -> sorted.put(index.get(entry.getKey()), entry));
            Map<Uuid, Set<Integer>> topics = new HashMap<>();
            sorted.values().forEach(entry -> {
                Set<Integer> partitions = new HashSet<>();
                partitions.addAll(new TreeSet<>(entry.getValue()));
                topics.put(entry.getKey(), partitions);
            });
            held.put(member, topics);
        });
        return held;
    }

    private static GroupSpec group(Map<String, Set<Uuid>> subscriptions, Map<String, Map<Uuid, Set<Integer>>> held,
            boolean isHomogeneous, Map<Uuid, Integer> index) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        subscriptions.forEach((member, topics) -> {
            Map<Uuid, Set<Integer>> own = held.getOrDefault(member, Map.of());
            own.forEach((topic, partitions) -> partitions.forEach(
                partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, member)));
            members.put(member, new MemberSubscriptionAndAssignmentImpl(
                Optional.empty(), Optional.empty(), topics, own.isEmpty() ? Assignment.EMPTY : new Assignment(own)));
        });
        SubscriptionType type = isHomogeneous ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(members, type, inverted);
    }

    private static String timed(
            PartitionAssignor assignor, GroupSpec group, SubscribedTopicDescriber describer, Map<Uuid, Integer> index) {
        long until = THREADS.getCurrentThreadCpuTime() + WARM_UP_NS;
        GroupAssignment answer = assignor.assign(group, describer);
        while (THREADS.getCurrentThreadCpuTime() < until)
            answer = assignor.assign(group, describer);
        long[] times = new long[2000];
        int done = 0;
        until = THREADS.getCurrentThreadCpuTime() + MEASURED_NS;
        while (done < times.length && (done < 3 || THREADS.getCurrentThreadCpuTime() < until)) {
            long start = THREADS.getCurrentThreadCpuTime();
            answer = assignor.assign(group, describer);
            times[done++] = THREADS.getCurrentThreadCpuTime() - start;
        }
        Arrays.sort(times, 0, done);
        long[] checksum = new long[1];
        answer.members().forEach((member, assignment) -> {
            long number = member.equals("newMember") ? 999_999_999L : Long.parseLong(member.substring(6));
            assignment.partitions().forEach((topic, partitions) -> partitions.forEach(
                partition -> checksum[0] += mixed((number << 32) ^ ((long) index.get(topic) << 20) ^ partition)));
        });
        return "{\"ns\":" + times[done / 2] + ",\"checksum\":\"" + checksum[0] + "\"}";
    }

    /** Keys as byte arrays, as a producer has them: murmur2, toPositive, modulo. keyBytes -1: 0 to 40 bytes, mixed. */
    private static String hashes(JsonNode cell) {
        int length = cell.get("keyBytes").asInt();
        int partitions = cell.get("partitions").asInt();
        byte[][] keys = new byte[cell.get("keys").asInt()][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = new byte[length < 0 ? (int) Long.remainderUnsigned(mixed(i), 41) : length];
            for (int k = 0; k < keys[i].length; k++)
                keys[i][k] = (byte) mixed(1000L * i + k);
        }
        int[] places = new int[keys.length];
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 25; round++) {
            long start = THREADS.getCurrentThreadCpuTime();
            for (int i = 0; i < keys.length; i++)
                places[i] = Utils.toPositive(Utils.murmur2(keys[i])) % partitions;
            best = Math.min(best, THREADS.getCurrentThreadCpuTime() - start);
        }
        long checksum = 0;
        for (int i = 0; i < places.length; i++)
            checksum += mixed(((long) i << 32) ^ places[i]);
        return "{\"ns\":" + best + ",\"checksum\":\"" + checksum + "\"}";
    }
}
