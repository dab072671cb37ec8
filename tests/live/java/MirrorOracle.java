package org.apache.kafka.connect.mirror;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;

/**
 * Which task of MirrorMaker 2 reads each partition, behind the replay format. Brokers list topics by name; after that the
 * maps are those of the admin client, and of MirrorSourceConnector.
 */
public final class MirrorOracle {
    private MirrorOracle() { }

    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode request = json.readTree(line);
            Map<String, Integer> counts = new TreeMap<>();
            request.get("input").get("topics").forEach(topic -> counts.put(topic.get(0).asText(), topic.get(1).asInt()));
            Map<String, int[]> readers = new TreeMap<>();
            counts.forEach((topic, partitions) -> readers.put(topic, new int[partitions]));
            List<Map<String, String>> tasks = taskConfigs(counts, request.get("input").get("tasksMax").asInt());
            for (int task = 0; task < tasks.size(); task++)
                for (TopicPartition read : new MirrorSourceTaskConfig(tasks.get(task)).taskTopicPartitions())
                    readers.get(read.topic())[read.partition()] = task;
            ObjectNode reply = json.createObjectNode();
            reply.set("id", request.get("id"));
            reply.putObject("output").set("readers", json.valueToTree(readers));
            out.println(json.writeValueAsString(reply));
            out.flush();
        }
    }

    private static List<Map<String, String>> taskConfigs(Map<String, Integer> counts, int tasksMax) throws Exception {
        Map<String, Boolean> listed = new HashMap<>();
        new TreeSet<>(counts.keySet()).forEach(topic -> listed.put(topic, true));
        Set<String> topics = listed.keySet().stream().collect(Collectors.toSet());
        Map<String, KafkaFuture<TopicDescription>> futures = new HashMap<>(topics.size());
        for (String topic : topics) {
            List<TopicPartitionInfo> partitions = new ArrayList<>();
            for (int i = 0; i < counts.get(topic); i++)
                partitions.add(new TopicPartitionInfo(i, null, List.of(), List.of()));
            futures.put(topic, KafkaFuture.completedFuture(new TopicDescription(topic, false, partitions)));
        }
        Constructor<?> make = DescribeTopicsResult.class.getDeclaredConstructors()[0];
        make.setAccessible(true);
        DescribeTopicsResult described = (DescribeTopicsResult) make.newInstance(null, new HashMap<>(futures));
        List<TopicPartition> known = new ArrayList<>();
        for (TopicDescription description : described.allTopicNames().get().values())
            description.partitions().forEach(one -> known.add(new TopicPartition(description.name(), one.partition())));
        Map<String, String> properties = new HashMap<>(Map.of("name", "mirror", "connector.class", "MirrorSourceConnector"));
        properties.putAll(Map.of("source.cluster.alias", "a", "target.cluster.alias", "b"));
        properties.putAll(Map.of("source.bootstrap.servers", "h:1", "target.bootstrap.servers", "h:2"));
        return new MirrorSourceConnector(known, new MirrorSourceConfig(properties)).taskConfigs(tasksMax);
    }
}
