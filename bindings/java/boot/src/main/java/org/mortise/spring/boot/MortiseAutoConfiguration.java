package org.mortise.spring.boot;

import io.opentelemetry.api.OpenTelemetry;
import org.mortise.LockListener;
import org.mortise.LossListener;
import org.mortise.MortiseClient;
import org.mortise.opentelemetry.MortiseTracing;
import org.mortise.spring.integration.MortiseLockRegistry;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.*;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.integration.support.locks.LockRegistry;

/** Makes the client from the properties, and the beans that use it. */
@AutoConfiguration(
    afterName =
        "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration")
@EnableConfigurationProperties(MortiseProperties.class)
@Import(MortiseAutoConfiguration.ProxyRegistrar.class)
public class MortiseAutoConfiguration {
  /** Made by Spring. */
  public MortiseAutoConfiguration() {}

  /** Makes proxies without AspectJ, for advisors of the infrastructure. */
  static final class ProxyRegistrar implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importer, BeanDefinitionRegistry registry) {
      AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    }
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  MortiseClient mortiseClient(
      MortiseProperties properties,
      ObjectProvider<LossListener> lossListener,
      ObjectProvider<LockListener> lockListener) {
    return ClientFactory.open(properties, lossListener, lockListener);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethods mortiseLockedMethods(
      ConfigurableListableBeanFactory beans, ObjectProvider<MortiseProperties> properties) {
    return new LockedMethods(beans, properties);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static DefaultPointcutAdvisor mortiseLockedAdvisor(
      LockedMethods methods, ObjectProvider<MortiseClient> client, Environment environment) {
    var advisor = new DefaultPointcutAdvisor(methods, new LockedInterceptor(client, methods));
    // Not by a bean of properties, which would be made too early for its post-processors.
    advisor.setOrder(
        environment.getProperty(
            "mortise.locked.order", Integer.class, MortiseProperties.MethodSettings.ORDER));
    return advisor;
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({LockRegistry.class, MortiseLockRegistry.class})
  static class IntegrationConfiguration {
    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    MortiseLockRegistry mortiseLockRegistry(MortiseClient client) {
      return new MortiseLockRegistry(client);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  static class HealthConfiguration {
    @Bean
    @ConditionalOnEnabledHealthIndicator("mortise")
    @ConditionalOnMissingBean(name = "mortiseHealthIndicator")
    HealthIndicator mortiseHealthIndicator(MortiseClient client) {
      return new MortiseHealthIndicator(client);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({OpenTelemetry.class, MortiseTracing.class})
  static class TracingConfiguration {
    @Bean
    @ConditionalOnBean(OpenTelemetry.class)
    @ConditionalOnMissingBean(LockListener.class)
    MortiseTracing mortiseTracing(OpenTelemetry telemetry) {
      return new MortiseTracing(telemetry);
    }
  }
}
