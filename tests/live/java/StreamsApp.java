import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Materialized;

/**
 * Instances of an application that counts the records of a topic by key, in both protocols. Arguments: bootstrap, topic,
 * folder, instances. Each is named PROTOCOL-NUMBER; a name on standard input closes it or starts it where none has it,
 * the end of input closes all.
 */
public final class StreamsApp {
    private StreamsApp() { }

    public static void main(String[] arguments) throws Exception {
        Map<String, KafkaStreams> running = new LinkedHashMap<>();
        for (int number = 0; number < Integer.parseInt(arguments[3]); number++)
            for (String protocol : new String[] {"classic", "streams"}) {
                String name = protocol + "-" + number;
                running.put(name, start(arguments[0], arguments[1], arguments[2] + "/" + name, protocol));
            }
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String name = input.readLine(); name != null; name = input.readLine())
            if (running.containsKey(name))
                running.remove(name).close(new KafkaStreams.CloseOptions().leaveGroup(true));
            else
                running.put(name, start(arguments[0], arguments[1], arguments[2] + "/" + name, name.split("-")[0]));
        running.values().forEach(KafkaStreams::close);
    }

    private static KafkaStreams start(String bootstrap, String topic, String folder, String protocol) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topic).groupByKey().count(Materialized.as("counts"));
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "app-" + protocol);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder);
        settings.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, protocol);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 1);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        if (protocol.equals("classic"))
            settings.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.start();
        return streams;
    }
}
