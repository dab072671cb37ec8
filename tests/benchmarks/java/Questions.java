import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** One JSON question a line, one answer a line. {@code {"again":true}} measures the last cell once more. */
final class Questions {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What a cell comes to: the operation, and the checksum of what it answers. */
    record Prepared<T>(Supplier<T> operation, ToLongFunction<T> checksum) { }

    /** How a cell is prepared. */
    interface Cells {
        Prepared<?> prepared(JsonNode cell);
    }

    private Questions() { }

    static void serve(Cells cells) throws IOException {
        Timing.watch();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Prepared<?> last = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = JSON.readTree(line);
            String answer;
            try {
                if (question.has("again")) {
                    answer = "{\"ns\":" + Timing.median(last.operation()) + "}";
                } else {
                    last = null; // its memory is needed
                    last = cells.prepared(question);
                    answer = first(last);
                }
            } catch (OutOfMemoryError full) {
                last = null;
                answer = "{\"reason\":\"Kafka's runs out of memory\"}";
            }
            System.out.println(answer);
            System.out.flush();
        }
    }

    private static <T> String first(Prepared<T> cell) {
        long checksum = cell.checksum().applyAsLong(Timing.warmed(cell.operation()));
        return "{\"ns\":" + Timing.median(cell.operation()) + ",\"checksum\":\"" + checksum + "\"}";
    }
}
