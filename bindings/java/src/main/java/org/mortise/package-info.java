/**
 * Distributed locks on Redis and Valkey; begin with {@link org.mortise.MortiseClient}.
 *
 * <p>A hold is a lease: it ends by unlocking, or it is lost. It is renewed by native code, so that
 * a pause of the garbage collector does not cost it, but nothing can keep a paused process from
 * acting after its end: hand the fencing token to whatever you protect.
 */
package org.mortise;
