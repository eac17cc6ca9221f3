package org.mortise.spring.boot;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.core.Ordered;

/** The properties {@code mortise.*}. */
@ConfigurationProperties("mortise")
public class MortiseProperties {
  private String url;
  private final Map<String, String> options = new LinkedHashMap<>();
  private final MethodSettings locked = new MethodSettings();

  /** Makes properties with the default values. */
  public MortiseProperties() {}

  /**
   * {@code mortise.url}.
   *
   * @return the URL of the servers, or null
   */
  public String getUrl() {
    return url;
  }

  /**
   * Sets {@code mortise.url}.
   *
   * @param url such as {@code redis://localhost}
   */
  public void setUrl(String url) {
    this.url = url;
  }

  /**
   * {@code mortise.options}.
   *
   * @return the options of the client by their keys
   */
  public Map<String, String> getOptions() {
    return options;
  }

  /**
   * {@code mortise.locked}.
   *
   * @return the settings of {@link Locked} methods
   */
  public MethodSettings getLocked() {
    return locked;
  }

  /** The properties {@code mortise.locked.*}. */
  public static class MethodSettings {
    static final int ORDER = Ordered.LOWEST_PRECEDENCE - 1000;
    private static final Duration WAIT_TIME = Duration.ofSeconds(30);

    private Duration waitTime = WAIT_TIME;
    private int order = ORDER;

    /** Makes properties with the default values. */
    public MethodSettings() {}

    /**
     * {@code mortise.locked.wait-time}.
     *
     * @return how long a method without a {@link Locked#waitTime} waits
     */
    public Duration getWaitTime() {
      return waitTime;
    }

    /**
     * Sets {@code mortise.locked.wait-time}.
     *
     * @param waitTime zero does not wait
     */
    public void setWaitTime(Duration waitTime) {
      this.waitTime = waitTime;
    }

    /**
     * {@code mortise.locked.order}.
     *
     * @return the order of the advice
     */
    public int getOrder() {
      return order;
    }

    /**
     * Sets {@code mortise.locked.order}.
     *
     * @param order below the order of the advice of transactions
     */
    public void setOrder(int order) {
      this.order = order;
    }
  }
}
