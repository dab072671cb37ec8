import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/**
 * In which order the coordinator of Kafka 4.3 hands members to its assignor, where the last one listed has just taken the
 * place of a static member ({@code replaces}), which comes first in the group.
 */
public final class ReplacedMemberOracle {
    private ReplacedMemberOracle() { }

    public static void main(String[] arguments) throws Exception {
        OracleLoop.serve((strategy, input) -> order(input));
    }

    private static ObjectNode order(JsonNode input) {
        JsonNode listed = input.get("members");
        String last = listed.get(listed.size() - 1).get("id").asText();
        String replaced = listed.get(listed.size() - 1).get("replaces").asText();
        Map<String, ConsumerGroupMember> members = new LinkedHashMap<>();
        members.put(replaced, member(replaced, "instance"));
        for (int i = 0; i < listed.size() - 1; i++) {
            String id = listed.get(i).get("id").asText();
            members.put(id, member(id, null));
        }
        ObjectNode output = new ObjectMapper().createObjectNode();
        ArrayNode order = output.putArray("memberOrder");
        PartitionAssignor assignor = new PartitionAssignor() {
            @Override
            public String name() {
                return "order";
            }

            @Override
            public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
                group.memberIds().forEach(order::add);
                return new GroupAssignment(Map.of());
            }
        };
        new ConsumerTargetAssignmentBuilder("group", 1, assignor).withTime(Time.SYSTEM).withMembers(members)
            .withStaticMembers(Map.of("instance", replaced)).withSubscriptionType(SubscriptionType.HOMOGENEOUS)
            .withTargetAssignment(Map.of()).withInvertedTargetAssignment(Map.of())
            .withMetadataImage(CoordinatorMetadataImage.EMPTY).withResolvedRegularExpressions(Map.of())
            .addOrUpdateMember(last, member(last, "instance")).removeMember(replaced).build();
        return output;
    }

    private static ConsumerGroupMember member(String id, String instance) {
        return new ConsumerGroupMember.Builder(id).setInstanceId(instance).build();
    }
}
