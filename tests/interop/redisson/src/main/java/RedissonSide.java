import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/**
 * One Redisson client that does what it is told: `RedissonSide URL KEY`, then one command a line on
 * standard input, each answered by one line.
 *
 *   try LEASE_MS            one attempt: true or false
 *   lock WAIT_MS LEASE_MS   waits: true or false; "waiting" comes first
 *   unlock                  ok, or the exception's name
 */
public final class RedissonSide {
  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[0])
        .setConnectionMinimumIdleSize(2).setConnectionPoolSize(4)
        .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(2);
    var client = Redisson.create(config);
    RLock lock = client.getLock(arguments[1]);
    var commands = new BufferedReader(new InputStreamReader(System.in));
    report("ready");
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "try" -> report(lock.tryLock(0, Long.parseLong(words[1]), TimeUnit.MILLISECONDS));
        case "lock" -> {
          report("waiting");
          long wait = Long.parseLong(words[1]);
          report(lock.tryLock(wait, Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
        }
        case "unlock" -> report(unlock(lock));
        default -> throw new IllegalArgumentException(line);
      }
    }
    client.shutdown();
  }

  private static String unlock(RLock lock) {
    try {
      lock.unlock();
      return "ok";
    } catch (IllegalMonitorStateException e) {
      return e.getClass().getSimpleName();
    }
  }

  private static void report(Object answer) {
    System.out.println(answer);
    System.out.flush();
  }
}
