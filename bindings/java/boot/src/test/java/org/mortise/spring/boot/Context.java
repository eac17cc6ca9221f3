package org.mortise.spring.boot;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Applications on the server that tests/support/with_server has started. */
final class Context {
  private Context() {}

  static String url() {
    return Objects.requireNonNull(
        System.getenv("MORTISE_TEST_URL"),
        "no MORTISE_TEST_URL: run this by tests/support/with_server");
  }

  /** An application with arguments such as {@code --mortise.options.lease=10s}. */
  static ConfigurableApplicationContext start(Class<?> application, String... arguments) {
    var all = new ArrayList<>(List.of("--mortise.url=" + url()));
    all.addAll(List.of(arguments));
    return startAlone(application, all.toArray(String[]::new));
  }

  static ConfigurableApplicationContext startAlone(Class<?> application, String... arguments) {
    return new SpringApplicationBuilder(application)
        .web(WebApplicationType.NONE)
        .properties("spring.main.banner-mode=off", "logging.level.root=error")
        .run(arguments);
  }
}
