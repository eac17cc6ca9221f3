import java.time.Duration;
import org.mortise.Lease;
import org.mortise.ReadWriteMutex;
import org.mortise.Status;

/** A lease that a scenario has a name for. */
final class NamedLease {
  private final Lease lease;
  private final Handle handle;
  private String mode;
  private boolean isReleased;

  NamedLease(Lease lease, Handle handle, String mode) {
    this.lease = lease;
    this.handle = handle;
    this.mode = mode;
  }

  /** False means that it was lost or released before; the driver knows which. */
  private Result release() {
    boolean wasHeld = lease.release();
    handle.drop(mode, lease);
    Status otherwise = isReleased ? Status.NOT_OWNER : Status.LOST;
    isReleased = true;
    return Result.of(wasHeld ? Status.OK : otherwise);
  }

  private Result become(String other) {
    handle.drop(mode, lease);
    handle.add(other, lease);
    mode = other;
    return Result.token(lease.token());
  }

  Result call(String method, Line line) {
    switch (method) {
      case "unlock":
        return release();
      case "extend":
        lease.extend(Duration.ofMillis(line.number("lease_ms", 0)));
        return Result.token(lease.token());
      case "export":
        return Handle.export(lease, line);
      case "progress":
        lease.progress();
        return Result.token(lease.token());
      case "set_value":
        lease.setValue(line.given().get("value"));
        return Result.OK;
      case "upgrade":
        boolean isUpgraded = ((ReadWriteMutex) lease.owner()).tryUpgrade();
        return isUpgraded ? become("write") : Result.of(Status.NOT_ACQUIRED);
      case "downgrade":
        ((ReadWriteMutex) lease.owner()).downgrade();
        return become("read");
      case "token":
        return Result.number(lease.token());
      case "valid_ms":
        return Result.number(lease.validFor().toMillis());
      case "is_held":
        return Result.truth(lease.isHeld());
      default:
        throw new IllegalArgumentException(method);
    }
  }
}
