import org.redisson.Redisson;
import org.redisson.config.Config;

/** Redisson's competitor, as its README uses it; the contract is in competitor.c. */
class RedissonPeer {
  public static void main(String[] arguments) throws Exception {
    var config = new Config();
    config.useSingleServer().setAddress("redis://" + arguments[1]);
    var redisson = Redisson.create(config);
    Contention.main(arguments, name -> {
      var lock = redisson.getLock(name);
      return new Contention.Owner() {
        @Override
        public void acquire() {
          lock.lock();
        }

        @Override
        public void release() {
          lock.unlock();
        }
      };
    });
  }
}
