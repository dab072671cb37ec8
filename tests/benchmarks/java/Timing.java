import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * CPU time of one operation on this thread, warmed, as a median (garbage collection and compilation run on other threads
 * and are not counted). An operation that takes longer than a limit ends the process, after it has said so.
 */
final class Timing {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long LIMIT_NS = 20_000_000_000L;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long MEASURED_NS = 400_000_000L;
    private static final long LONG_NS = 3_000_000_000L;
    private static final int MOST = 4000;
    private static final int TOO_SLOW = 3;

    private static volatile long started = -1;

    private Timing() { }

    /** Watch the calling thread from now on. */
    static void watch() {
        long worker = Thread.currentThread().getId();
        Thread watch = new Thread(() -> {
            while (true) {
                long start = started;
                if (start >= 0 && THREADS.getThreadCpuTime(worker) - start > LIMIT_NS && start == started) {
                    System.out.println("{\"reason\":\"an operation of Kafka's takes longer than " + LIMIT_NS / 1_000_000_000L + " s\"}");
                    System.out.flush();
                    Runtime.getRuntime().halt(TOO_SLOW);
                }
                try {
                    Thread.sleep(50);
                } catch (InterruptedException ended) {
                    return;
                }
            }
        });
        watch.setDaemon(true);
        watch.start();
    }

    /** One operation under the limit. */
    static <T> T limited(Supplier<T> operation) {
        started = THREADS.getCurrentThreadCpuTime();
        try {
            return operation.get();
        } finally {
            started = -1;
        }
    }

    /** Let the compiler see it; long operations are warm after one. */
    static <T> T warmed(Supplier<T> operation) {
        long begin = THREADS.getCurrentThreadCpuTime();
        T answer = limited(operation);
        long first = THREADS.getCurrentThreadCpuTime() - begin;
        while (first < LONG_NS && THREADS.getCurrentThreadCpuTime() - begin < Math.max(WARM_UP_NS, 2 * first))
            answer = limited(operation);
        return answer;
    }

    /** Median nanoseconds. */
    static <T> long median(Supplier<T> operation) {
        long[] times = new long[MOST];
        int done = 0;
        long until = THREADS.getCurrentThreadCpuTime() + MEASURED_NS;
        while (done < MOST && (done == 0 || THREADS.getCurrentThreadCpuTime() < until || (done < 3 && times[0] < LONG_NS))) {
            long start = THREADS.getCurrentThreadCpuTime();
            limited(operation);
            times[done++] = THREADS.getCurrentThreadCpuTime() - start;
        }
        Arrays.sort(times, 0, done);
        return times[done / 2];
    }

    /** splitmix64. */
    static long mixed(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** The number that stands for a member in a checksum. */
    static long numberOf(String member) {
        return member.equals("newMember") ? 999_999_999L : Long.parseLong(member.substring("member".length()));
    }
}
