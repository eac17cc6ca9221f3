import java.util.concurrent.locks.Lock;
import org.mortise.Lease;
import org.mortise.MortiseClient;

/** Takes a lock and prints the library's version. */
class Consumer {
  public static void main(String[] arguments) throws InterruptedException {
    try (var client = MortiseClient.open(System.getenv("MORTISE_TEST_URL"))) {
      Lock lock = client.lock("packaging");
      lock.lock();
      lock.unlock();
      try (Lease lease = client.mutex("packaging").acquire()) {
        if (lease.isHeld()) System.out.println(MortiseClient.version());
      }
    }
  }
}
