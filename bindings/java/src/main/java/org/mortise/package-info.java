/**
 * Distributed locks on Redis and Valkey; begin with {@link org.mortise.MortiseClient}.
 *
 * <p>A hold is a lease: it ends by an unlock, or it is lost. Native code renews it, so a pause of
 * the garbage collector does not end it. Nothing can keep a paused process from acting after the
 * end of its lease. Pass the fencing token to the protected resource.
 */
package org.mortise;
