import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import org.mortise.MortiseClient;
import org.mortise.MortiseLock;
import org.mortise.MutexOwner;

/**
 * The Java side of the benchmark. Answers each line: "pairs N" with the median of N uncontended pairs
 * of lock and unlock, in microseconds; "calls N" with the nanoseconds of a call that asks for a token.
 */
class JavaSide {
  private static final double NANOS_PER_MICRO = 1000;

  public static void main(String[] arguments) throws Exception {
    try (var client = MortiseClient.open(arguments[0]);
        var questions = new BufferedReader(new InputStreamReader(System.in));
        var owner = client.mutex("bench java calls")) {
      MortiseLock lock = client.lock("bench java pairs");
      for (String line = questions.readLine(); line != null; line = questions.readLine()) {
        String[] words = line.split(" ");
        int count = Integer.parseInt(words[1]);
        System.out.println(words[0].equals("pairs") ? pairs(lock, count) : calls(owner, count));
      }
    }
  }

  private static double pairs(MortiseLock lock, int count) {
    long[] times = new long[count];
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      lock.lock();
      lock.unlock();
      times[i] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    return times[count / 2] / NANOS_PER_MICRO;
  }

  private static double calls(MutexOwner owner, int count) {
    long sum = 0;
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) sum += owner.token();
    double nanos = System.nanoTime() - start;
    if (sum != 0) throw new AssertionError("it was never held");
    return nanos / count;
  }
}
