import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
 * Kafka's own server assignors on the cells of its own benchmark, and Utils.murmur2 with the modulo. Members share their
 * topic sets, which are plain sets of ids: what Kafka's benchmark adds by looking names up is left out.
 */
public final class ServerBenchmark {
    private static final int BUCKETS = 5;

    private ServerBenchmark() { }

    public static void main(String[] arguments) throws Exception {
        Questions.serve(cell -> cell.has("keyBytes") ? hashes(cell) : assignments(cell));
    }

    private static Questions.Prepared<GroupAssignment> assignments(JsonNode cell) {
        PartitionAssignor assignor = cell.get("assignor").asText().equals("range") ? new RangeAssignor() : new UniformAssignor();
        int members = cell.get("members").asInt();
        int topics = cell.get("topics").asInt();
        int count = (int) ((long) members * cell.get("ratio").asInt() / topics);
        boolean isHomogeneous = cell.get("homogeneous").asBoolean();
        boolean isIncremental = cell.get("incremental").asBoolean();
        Uuid[] ids = new Uuid[topics];
        Map<Uuid, Integer> index = new HashMap<>();
        for (int i = 0; i < topics; i++) {
            ids[i] = new Uuid(Timing.mixed(2L * i), Timing.mixed(2L * i + 1));
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
        int joinedBefore = isIncremental ? members - 1 : members;
        Map<String, Set<Uuid>> subscriptions = subscriptions(ids, joinedBefore, isHomogeneous);
        GroupSpec group = group(subscriptions, Map.of(), isHomogeneous, index);
        if (isIncremental) {
            GroupSpec first = group;
            GroupAssignment before = Timing.limited(() -> assignor.assign(first, describer));
            subscriptions.put("newMember", subscriptions.get("member" + (joinedBefore - 1)));
            group = group(subscriptions, held(before, index), isHomogeneous, index);
        }
        GroupSpec asked = group;
        return new Questions.Prepared<>(() -> assignor.assign(asked, describer), answer -> checksum(answer, index));
    }

    private static Map<String, Set<Uuid>> subscriptions(Uuid[] ids, int members, boolean isHomogeneous) {
        int buckets = isHomogeneous ? 1 : Math.min(BUCKETS, members);
        int topicsEach = (ids.length + buckets - 1) / buckets;
        int membersEach = (members + buckets - 1) / buckets;
        Map<String, Set<Uuid>> subscriptions = new LinkedHashMap<>();
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

    /** Of all (member, topic, partition): the answers are sets. */
    private static long checksum(GroupAssignment answer, Map<Uuid, Integer> index) {
        long[] sum = new long[1];
        answer.members().forEach((member, assignment) -> {
            long number = Timing.numberOf(member) << 32;
            assignment.partitions().forEach((topic, partitions) -> partitions.forEach(
                partition -> sum[0] += Timing.mixed(number ^ ((long) index.get(topic) << 20) ^ partition)));
        });
        return sum[0];
    }

    /** Keys as byte arrays, as a producer has them: murmur2, toPositive, modulo. keyBytes -1: 0 to 40 bytes, mixed. */
    private static Questions.Prepared<int[]> hashes(JsonNode cell) {
        int length = cell.get("keyBytes").asInt();
        int partitions = cell.get("partitions").asInt();
        byte[][] keys = new byte[cell.get("keys").asInt()][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = new byte[length < 0 ? (int) Long.remainderUnsigned(Timing.mixed(i), 41) : length];
            for (int k = 0; k < keys[i].length; k++)
                keys[i][k] = (byte) Timing.mixed(1000L * i + k);
        }
        int[] places = new int[keys.length];
        return new Questions.Prepared<>(() -> {
            for (int i = 0; i < keys.length; i++)
                places[i] = Utils.toPositive(Utils.murmur2(keys[i])) % partitions;
            return places;
        }, answer -> {
            long checksum = 0;
            for (int i = 0; i < answer.length; i++)
                checksum += Timing.mixed(((long) i << 32) ^ answer[i]);
            return checksum;
        });
    }
}
