import org.mortise.MortiseClient;

/** Mortise's own competitor in Java; the contract is in competitor.c. */
class MortiseCompetitor {
  public static void main(String[] arguments) throws Exception {
    var client = MortiseClient.open("redis://" + arguments[1]);
    Contention.main(arguments, name -> {
      var lock = client.lock(name);
      return new Contention.Owner() {
        @Override
        public void acquire() {
          lock.lock();
        }

        @Override
        public void release() {
          lock.unlock();
        }

        @Override
        public boolean isHeld() {
          return lock.isHeldByCurrentThread();
        }
      };
    });
  }
}
