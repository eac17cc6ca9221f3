/**
 * Mortise's auto-configuration for Spring Boot, and methods under a lock; begin with {@link
 * org.mortise.spring.boot.Locked}.
 */
package org.mortise.spring.boot;
