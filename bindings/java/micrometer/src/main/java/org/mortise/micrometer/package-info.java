/** Mortise's statistics as Micrometer's meters; begin with {@link MortiseMetrics}. */
package org.mortise.micrometer;
