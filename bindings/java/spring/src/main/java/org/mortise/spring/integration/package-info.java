/**
 * Mortise's locks as Spring Integration's; begin with {@link
 * org.mortise.spring.integration.MortiseLockRegistry}.
 */
package org.mortise.spring.integration;
