import org.mortise.MortiseClient;

/** Mortise's own side in Java; the contract is in side.c. */
class MortiseSide {
  public static void main(String[] arguments) throws Exception {
    var client = MortiseClient.open("redis://" + arguments[1]);
    Contest.main(arguments, name -> {
      var lock = client.lock(name);
      return new Contest.Owner() {
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
