/**
 * Mortise's waits and holds as OpenTelemetry's spans; begin with {@link
 * org.mortise.opentelemetry.MortiseTracing}.
 */
package org.mortise.opentelemetry;
