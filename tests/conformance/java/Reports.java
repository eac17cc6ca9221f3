import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.mortise.LockKind;
import org.mortise.LockListener;
import org.mortise.LossReason;
import org.mortise.Status;

/** Prints the waits and the holds of a client while it is on. */
final class Reports implements LockListener {
  private static final Map<String, Reports> BY_CLIENT = new HashMap<>();

  private final String client;
  private final int madeIn = Driver.run();
  private volatile boolean isOn;

  private Reports(String client) {
    this.client = client;
  }

  /** Those of the client with this name. */
  static Reports of(String client) {
    return BY_CLIENT.computeIfAbsent(client, Reports::new);
  }

  static void forget() {
    BY_CLIENT.clear();
  }

  void turn(boolean on) {
    isOn = on;
  }

  @Override
  public Wait beginWait(String name, LockKind kind) {
    notify("wait_began token=0 reason=0", name, kind, Status.OK);
    return new Wait() {
      @Override
      public Hold granted(long token) {
        Reports.this.notify("hold_began reason=0 token=" + token, name, kind, Status.OK);
        return new Held(name, kind);
      }

      @Override
      public void failed(Status status) {
        Reports.this.notify("wait_failed reason=0", name, kind, status);
      }
    };
  }

  private void notify(String what, String name, LockKind kind, Status status) {
    if (!isOn) return;
    String text = lower(kind) + " " + name + " " + lower(status);
    Driver.notify(madeIn, client + " " + what + " text=" + Result.encode(text));
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** One hold, with its present kind. */
  private final class Held implements Hold {
    private final String name;
    private volatile LockKind kind;

    Held(String name, LockKind kind) {
      this.name = name;
      this.kind = kind;
    }

    @Override
    public void changed(LockKind other, long token) {
      kind = other;
      Reports.this.notify("hold_changed reason=0 token=" + token, name, kind, Status.OK);
    }

    @Override
    public void released(Status status) {
      Reports.this.notify("hold_ended reason=0", name, kind, status);
    }

    @Override
    public void lost(LossReason reason) {
      Reports.this.notify("hold_ended reason=" + reason.code(), name, kind, Status.LOST);
    }
  }
}
