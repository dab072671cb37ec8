import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupAssignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Kafka's own client assignors on the cells of its own benchmark ({@code ClientSideAssignorBenchmark}), called as a
 * group's leader calls them: {@code assign(cluster, groupSubscription)}, both made beforehand.
 */
public final class ClientBenchmark {
    private static final int BUCKETS = 5;
    private static final int RACKS = 3;
    private static final int NO_GENERATION = -1;
    private static final Constructor<?> SUBSCRIPTION = constructor();
    private static final boolean TAKES_RACK = SUBSCRIPTION.getParameterCount() == 5;

    private ClientBenchmark() { }

    public static void main(String[] arguments) throws Exception {
        Questions.serve(ClientBenchmark::prepared);
    }

    private static Questions.Prepared<GroupAssignment> prepared(JsonNode cell) {
        ConsumerPartitionAssignor assignor =
            cell.get("strategy").asText().equals("range") ? new RangeAssignor() : new CooperativeStickyAssignor();
        int members = cell.get("members").asInt();
        boolean isRackAware = cell.get("is_rack_aware").asBoolean();
        String mode = cell.get("mode").asText();
        List<String> topics = new ArrayList<>();
        for (int i = 0; i < cell.get("topics").asInt(); i++)
            topics.add("topic" + i);
        Cluster cluster = cluster(topics, (int) ((long) members * cell.get("ratio").asInt() / topics.size()));
        int count = mode.equals("FULL") ? members : members - 1;
        Map<String, Subscription> subscriptions =
            subscriptions(topics, count, cell.get("is_homogeneous").asBoolean(), isRackAware);
        GroupSubscription group = new GroupSubscription(subscriptions);
        if (mode.equals("INCREMENTAL")) {
            GroupAssignment before = Timing.limited(() -> assignor.assign(cluster, new GroupSubscription(subscriptions)));
            group = new GroupSubscription(joined(subscriptions, before, members, isRackAware));
        }
        GroupSubscription asked = group;
        return new Questions.Prepared<>(() -> assignor.assign(cluster, asked), answer -> checksum(answer));
    }

    private static Cluster cluster(List<String> topics, int partitions) {
        Node[] nodes = new Node[RACKS];
        for (int i = 0; i < RACKS; i++)
            nodes[i] = new Node(i, "localhost", 9092 + i, "rack" + i);
        List<PartitionInfo> all = new ArrayList<>();
        for (String topic : topics) {
            for (int p = 0; p < partitions; p++) {
                Node[] replicas = new Node[RACKS];
                for (int r = 0; r < RACKS; r++)
                    replicas[r] = nodes[(p + r) % RACKS];
                all.add(new PartitionInfo(topic, p, replicas[0], replicas, replicas));
            }
        }
        return new Cluster("cluster", List.of(nodes), all, Set.of(), Set.of());
    }

    private static Map<String, Subscription> subscriptions(
            List<String> topics, int members, boolean isHomogeneous, boolean isRackAware) {
        int buckets = isHomogeneous ? 1 : Math.min(BUCKETS, members);
        int topicsEach = (topics.size() + buckets - 1) / buckets;
        int membersEach = (members + buckets - 1) / buckets;
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (int i = 0; i < members; i++) {
            int bucket = i / membersEach;
            List<String> own =
                topics.subList(bucket * topicsEach, Math.min(topics.size(), (bucket + 1) * topicsEach));
            subscriptions.put("member" + i, subscription(own, Collections.emptyList(), i, isRackAware));
        }
        return subscriptions;
    }

    /** Everybody owns what it was given, and newMember comes with the topics of the last one. */
    private static Map<String, Subscription> joined(
            Map<String, Subscription> first, GroupAssignment before, int members, boolean isRackAware) {
        Map<String, Subscription> second = new HashMap<>();
        for (int i = 0; i < members - 1; i++) {
            String member = "member" + i;
            second.put(member, subscription(first.get(member).topics(),
                before.groupAssignment().get(member).partitions(), i, isRackAware));
        }
        List<String> last = first.get("member" + (members - 2)).topics();
        second.put("newMember", subscription(last, Collections.emptyList(), members - 1, isRackAware));
        return second;
    }

    private static Subscription subscription(List<String> topics, List<TopicPartition> owned, int i, boolean isRackAware) {
        Optional<String> rack = isRackAware ? Optional.of("rack" + i % RACKS) : Optional.empty();
        try {
            return (Subscription) (TAKES_RACK ? SUBSCRIPTION.newInstance(topics, null, owned, NO_GENERATION, rack)
                : SUBSCRIPTION.newInstance(topics, null, owned));
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /** With a generation and a rack since 3.5; before, what all releases since 2.4 have. */
    private static Constructor<?> constructor() {
        for (Constructor<?> found : Subscription.class.getConstructors()) {
            if (found.getParameterCount() == 5)
                return found;
        }
        try {
            return Subscription.class.getConstructor(List.class, ByteBuffer.class, List.class);
        } catch (NoSuchMethodException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /** Of all lists, in their order. */
    private static long checksum(GroupAssignment answer) {
        long sum = 0;
        for (Map.Entry<String, ConsumerPartitionAssignor.Assignment> entry : answer.groupAssignment().entrySet()) {
            long place = Timing.numberOf(entry.getKey()) << 32;
            for (TopicPartition each : entry.getValue().partitions()) {
                long topic = Long.parseLong(each.topic().substring("topic".length()));
                sum += Timing.mixed(Timing.mixed(place++) ^ (topic << 20) ^ each.partition());
            }
        }
        return sum;
    }
}
