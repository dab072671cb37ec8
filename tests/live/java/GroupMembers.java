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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Members of consumer groups, each a thread of its own. One JSON command a line in, one answer a line out:
 * {@code join} (name, topics, settings), {@code leave} (names: each is closed as its protocol closes it, answered when all
 * are), {@code stall} (names: they poll no more), {@code resume} (they do again), {@code tell} (what each member holds, and when it got and gave up
 * what), {@code read} (which offsets anybody read since it was last asked, and what was given up meanwhile, also by those
 * that are closed). Killed, it leaves no goodbye behind. Settings of our own: {@code test.commit.interval.ms}: the member
 * commits by itself, that often and at no other time; {@code test.commit.when.revoked}: and in its listener alone;
 * {@code test.is.share}: a member of a share group, whose client does not say what it holds.
 */
final class GroupMembers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Member> MEMBERS = new TreeMap<>();
    private static final Queue<Span> SPANS = new ConcurrentLinkedQueue<>();

    private GroupMembers() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = JSON.readTree(line);
            ObjectNode answer = switch (command.get("do").asText()) {
                case "join" -> join(command);
                case "leave" -> leave(command);
                case "stall" -> stall(command, true);
                case "resume" -> stall(command, false);
                case "read" -> read();
                default -> tell();
            };
            out.println(JSON.writeValueAsString(answer));
            out.flush();
        }
        System.exit(0);
    }

    private static ObjectNode join(JsonNode command) {
        Member member = new Member(
            command.get("name").asText(), strings(command.get("topics")), command.get("settings"));
        MEMBERS.put(member.name, member);
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

    private static ObjectNode stall(JsonNode command, boolean isStalled) {
        for (String name : strings(command.get("names")))
            MEMBERS.get(name).isStalled = isStalled;
        return JSON.createObjectNode();
    }

    private static ObjectNode tell() {
        ObjectNode told = JSON.createObjectNode();
        MEMBERS.forEach((name, member) -> {
            ObjectNode row = told.putObject(name).put("id", member.id).put("generation", member.generation).put("failure", member.failure);
            ArrayNode held = row.putArray("held");
            for (TopicPartition partition : member.held)
                held.addArray().add(partition.topic()).add(partition.partition());
            row.set("notes", JSON.valueToTree(member.notes));
        });
        return told;
    }

    private static ObjectNode read() {
        ObjectNode told = JSON.createObjectNode();
        ArrayNode spans = told.putArray("spans");
        for (Span span = SPANS.poll(); span != null; span = SPANS.poll())
            spans.addPOJO(span);
        return told;
    }

    private static List<String> strings(JsonNode list) {
        List<String> found = new ArrayList<>();
        list.forEach(text -> found.add(text.asText()));
        return found;
    }

    /** At {@code at} (milliseconds of the clock) partitions were got ({@code isGot}) or given up. */
    record Note(long at, boolean isGot, List<List<Object>> partitions) { }

    /** {@code member} read offsets {@code from} to {@code to}; {@code from} -1: it gave the partition up. */
    record Span(long at, String member, String topic, int partition, long from, long to) { }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        final String name;
        private final List<String> topics;
        private final Properties settings = new Properties();
        private final long commitMillis;
        private final boolean commitsWhenRevoked;
        private final boolean isShare;
        private KafkaConsumer<byte[], byte[]> consumer;
        final Queue<Note> notes = new ConcurrentLinkedQueue<>();
        volatile boolean isEnding;
        volatile boolean isStalled;
        volatile String id = "";
        volatile int generation;
        volatile String failure;
        volatile Set<TopicPartition> held = Set.of();

        Member(String name, List<String> topics, JsonNode settings) {
            this.name = name;
            this.topics = topics;
            settings.properties().forEach(setting -> this.settings.put(setting.getKey(), setting.getValue().asText()));
            Object interval = this.settings.remove("test.commit.interval.ms");
            commitMillis = interval == null ? Long.MAX_VALUE : Long.parseLong((String) interval);
            commitsWhenRevoked = this.settings.remove("test.commit.when.revoked") != null;
            isShare = this.settings.remove("test.is.share") != null;
            setDaemon(true);
        }

        @Override
        public void run() {
            ByteArrayDeserializer bytes = new ByteArrayDeserializer();
            if (isShare) {
                share(bytes);
                return;
            }
            try (KafkaConsumer<byte[], byte[]> opened = new KafkaConsumer<>(settings, bytes, bytes)) {
                consumer = opened;
                consumer.subscribe(topics, this);
                long committed = System.currentTimeMillis();
                while (!isEnding) {
                    if (isStalled) {
                        Thread.sleep(50);
                        continue;
                    }
                    remember(consumer.poll(Duration.ofMillis(100)));
                    held = Set.copyOf(consumer.assignment());
                    id = consumer.groupMetadata().memberId();
                    generation = consumer.groupMetadata().generationId();
                    if (System.currentTimeMillis() - committed >= commitMillis) {
                        committed = System.currentTimeMillis();
                        consumer.commitAsync();
                    }
                }
            } catch (Throwable thrown) {
                failure = thrown.toString();
            }
        }

        private void share(ByteArrayDeserializer bytes) {
            try (KafkaShareConsumer<byte[], byte[]> opened = new KafkaShareConsumer<>(settings, bytes, bytes)) {
                opened.subscribe(topics);
                while (!isEnding)
                    opened.poll(Duration.ofMillis(100));
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
            if (commitsWhenRevoked)
                consumer.commitSync();
        }

        private void remember(ConsumerRecords<byte[], byte[]> records) {
            for (TopicPartition partition : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> batch = records.records(partition);
                long first = batch.get(0).offset();
                long last = batch.get(batch.size() - 1).offset();
                SPANS.add(new Span(
                    System.currentTimeMillis(), name, partition.topic(), partition.partition(), first, last));
            }
        }

        private void note(boolean isGot, Collection<TopicPartition> partitions) {
            if (!isGot)
                for (TopicPartition partition : partitions)
                    SPANS.add(new Span(
                        System.currentTimeMillis(), name, partition.topic(), partition.partition(), -1, -1));
            List<List<Object>> pairs = new ArrayList<>();
            partitions.forEach(partition -> pairs.add(List.of(partition.topic(), partition.partition())));
            notes.add(new Note(System.currentTimeMillis(), isGot, pairs));
        }
    }
}
