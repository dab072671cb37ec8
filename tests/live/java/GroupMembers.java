import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of consumer groups, each a thread of its own. One JSON command a line in, one answer a line out:
 * {@code join} (name, topics, settings), {@code leave} (names: each is closed as its protocol closes it, answered when all
 * are), {@code stall} (names: they poll no more), {@code tell} (what each member holds, and when it got and gave up
 * what). Killed, it leaves no goodbye behind.
 */
final class GroupMembers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Member> MEMBERS = new TreeMap<>();

    private GroupMembers() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = JSON.readTree(line);
            ObjectNode answer = switch (command.get("do").asText()) {
                case "join" -> join(command);
                case "leave" -> leave(command);
                case "stall" -> stall(command);
                default -> tell();
            };
            out.println(JSON.writeValueAsString(answer));
            out.flush();
        }
        System.exit(0);
    }

    private static ObjectNode join(JsonNode command) {
        Member member = new Member(strings(command.get("topics")), command.get("settings"));
        MEMBERS.put(command.get("name").asText(), member);
        member.start();
        return JSON.createObjectNode();
    }

    private static ObjectNode leave(JsonNode command) throws InterruptedException {
        List<Member> leaving = new ArrayList<>();
        for (String name : strings(command.get("names")))
            leaving.add(MEMBERS.remove(name));
        for (Member member : leaving)
            member.isEnding = true;
        for (Member member : leaving)
            member.join();
        return JSON.createObjectNode();
    }

    private static ObjectNode stall(JsonNode command) {
        for (String name : strings(command.get("names")))
            MEMBERS.get(name).isStalled = true;
        return JSON.createObjectNode();
    }

    private static ObjectNode tell() {
        ObjectNode told = JSON.createObjectNode();
        MEMBERS.forEach((name, member) -> {
            ObjectNode row = told.putObject(name).put("id", member.id).put("failure", member.failure);
            ArrayNode held = row.putArray("held");
            for (TopicPartition partition : member.held)
                held.addArray().add(partition.topic()).add(partition.partition());
            row.set("notes", JSON.valueToTree(member.notes));
        });
        return told;
    }

    private static List<String> strings(JsonNode list) {
        List<String> found = new ArrayList<>();
        list.forEach(text -> found.add(text.asText()));
        return found;
    }

    /** At {@code at} (milliseconds of the clock) partitions were got ({@code isGot}) or given up. */
    record Note(long at, boolean isGot, List<List<Object>> partitions) { }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        private final List<String> topics;
        private final Properties settings = new Properties();
        final Queue<Note> notes = new ConcurrentLinkedQueue<>();
        volatile boolean isEnding;
        volatile boolean isStalled;
        volatile String id = "";
        volatile String failure;
        volatile Set<TopicPartition> held = Set.of();

        Member(List<String> topics, JsonNode settings) {
            this.topics = topics;
            settings.properties().forEach(setting -> this.settings.put(setting.getKey(), setting.getValue().asText()));
            setDaemon(true);
        }

        @Override
        public void run() {
            ByteArrayDeserializer bytes = new ByteArrayDeserializer();
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
                consumer.subscribe(topics, this);
                while (!isEnding) {
                    if (isStalled) {
                        Thread.sleep(50);
                        continue;
                    }
                    consumer.poll(Duration.ofMillis(100));
                    held = Set.copyOf(consumer.assignment());
                    id = consumer.groupMetadata().memberId();
                }
            } catch (Throwable thrown) {
                failure = thrown.toString();
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            note(true, partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            note(false, partitions);
        }

        private void note(boolean isGot, Collection<TopicPartition> partitions) {
            List<List<Object>> pairs = new ArrayList<>();
            partitions.forEach(partition -> pairs.add(List.of(partition.topic(), partition.partition())));
            notes.add(new Note(System.currentTimeMillis(), isGot, pairs));
        }
    }
}
