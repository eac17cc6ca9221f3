package org.mortise.spring.boot;

import java.util.Map;
import org.mortise.LockListener;
import org.mortise.LossListener;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseOptions;
import org.mortise.Status;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.*;
import org.springframework.util.StringUtils;

/** Opens the client of the properties. */
final class ClientFactory {
  private ClientFactory() {}

  static MortiseClient open(
      MortiseProperties properties,
      ObjectProvider<LossListener> lossListener,
      ObjectProvider<LockListener> lockListener) {
    if (!StringUtils.hasText(properties.getUrl())) {
      throw new InvalidConfigurationPropertyValueException(
          "mortise.url",
          properties.getUrl(),
          "It names the servers of the locks. Set it, such as to redis://localhost.");
    }
    MortiseOptions options = MortiseOptions.DEFAULTS;
    for (Map.Entry<String, String> option : properties.getOptions().entrySet()) {
      options = options.with(key(option.getKey()), option.getValue());
    }
    MortiseClient.Builder builder = MortiseClient.builder(properties.getUrl()).options(options);
    lossListener.ifAvailable(builder::lossListener);
    lockListener.ifAvailable(builder::lockListener);
    try {
      return builder.open();
    } catch (MortiseException failure) {
      throw failure.status() == Status.INVALID_ARGUMENT
          ? invalid(properties, failure)
          : failure;
    }
  }

  /** Spring's properties have dashes where options have underscores. */
  private static String key(String property) {
    return property.replace('-', '_');
  }

  /** The message begins with the key of the option, or with "option" and the unknown key. */
  private static RuntimeException invalid(MortiseProperties properties, MortiseException failure) {
    String message = failure.getMessage();
    for (Map.Entry<String, String> option : properties.getOptions().entrySet()) {
      String key = key(option.getKey());
      if (message.startsWith(key + ":") || message.startsWith("option: \"" + key + "\"")) {
        return new InvalidConfigurationPropertyValueException(
            "mortise.options." + option.getKey(), option.getValue(), message);
      }
    }
    // Not with its value, which may contain a password.
    return new IllegalStateException("mortise.url: " + message, failure);
  }
}
