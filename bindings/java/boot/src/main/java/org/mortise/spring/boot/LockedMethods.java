package org.mortise.spring.boot;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The {@link Locked} methods of an application: which they are, and a check of each when its bean
 * is made. A mistake then ends the start instead of a call.
 */
final class LockedMethods extends StaticMethodMatcherPointcut implements BeanPostProcessor {
  private final ConfigurableBeanFactory beans;
  private final ObjectProvider<MortiseProperties> properties;
  private final Map<MethodClassKey, LockedMethod> known = new ConcurrentHashMap<>();

  LockedMethods(ConfigurableBeanFactory beans, ObjectProvider<MortiseProperties> properties) {
    this.beans = beans;
    this.properties = properties;
    setClassFilter(type -> AnnotationUtils.isCandidateClass(type, Locked.class));
  }

  private static boolean isLocked(Method method) {
    return AnnotatedElementUtils.hasAnnotation(method, Locked.class);
  }

  @Override
  public boolean matches(Method method, Class<?> type) {
    return isLocked(AopUtils.getMostSpecificMethod(method, type));
  }

  LockedMethod find(Method method, Class<?> type) {
    return known.computeIfAbsent(
        new MethodClassKey(method, type),
        key -> check(AopUtils.getMostSpecificMethod(method, type)));
  }

  private LockedMethod check(Method method) {
    return new LockedMethod(method, beans, properties.getObject().getLocked().getWaitTime());
  }

  @Override
  public Object postProcessBeforeInitialization(Object bean, String beanName) {
    Class<?> type = ClassUtils.getUserClass(bean);
    if (AnnotationUtils.isCandidateClass(type, Locked.class)) {
      ReflectionUtils.doWithMethods(type, this::check, LockedMethods::isLocked);
    }
    return bean;
  }
}
