package org.mortise.spring.boot;

import java.lang.reflect.Method;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

/** The name of the lock of one {@link Locked} method: text with expressions. */
final class LockName {
  private static final SpelExpressionParser PARSER = new SpelExpressionParser();
  private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

  private final Method method;
  private final BeanFactory beans;
  private final Expression[] parts;

  LockName(Method method, String template, BeanFactory beans) {
    this.method = method;
    this.beans = beans;
    if (template.isBlank()) {
      throw new IllegalStateException(
          "@Locked on " + method + ": the name is empty; give one such as \"report-#{#id}\"");
    }
    try {
      Expression whole = PARSER.parseExpression(template, ParserContext.TEMPLATE_EXPRESSION);
      parts =
          whole instanceof CompositeStringExpression several
              ? several.getExpressions()
              : new Expression[] {whole};
    } catch (ExpressionException failure) {
      throw new IllegalStateException(
          "@Locked on " + method + ": \"" + template + "\" is not an expression: "
              + failure.getMessage(),
          failure);
    }
  }

  String evaluate(Object target, Object[] arguments) {
    if (parts.length == 1 && parts[0] instanceof LiteralExpression literal) {
      return literal.getExpressionString();
    }
    var context = new MethodBasedEvaluationContext(target, method, arguments, NAMES);
    context.setBeanResolver(new BeanFactoryResolver(beans));
    var name = new StringBuilder();
    for (Expression part : parts) {
      boolean isText = part instanceof LiteralExpression;
      name.append(isText ? part.getExpressionString() : text(part, context));
    }
    return name.toString();
  }

  /** Two calls must not share a lock because an expression had no value. */
  private String text(Expression part, MethodBasedEvaluationContext context) {
    Object value;
    try {
      value = ObjectUtils.unwrapOptional(part.getValue(context));
    } catch (ExpressionException failure) {
      throw refused(part, "cannot be evaluated: " + failure.getMessage(), failure);
    }
    if (value == null) {
      throw refused(
          part,
          "is null; give the parameter a value, and compile with -parameters or write #p0 for the"
              + " first parameter",
          null);
    }
    if (!hasText(value)) {
      throw refused(
          part,
          "is of " + value.getClass().getTypeName() + ", whose toString differs on every host;"
              + " give a property of it, such as #{#order.id}",
          null);
    }
    String text = value.toString();
    if (text == null || text.isBlank()) {
      throw refused(part, "is \"" + text + "\"; give the parameter a value", null);
    }
    return text;
  }

  private static boolean hasText(Object value) {
    try {
      return value.getClass().getMethod("toString").getDeclaringClass() != Object.class;
    } catch (NoSuchMethodException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private IllegalArgumentException refused(Expression part, String why, Exception cause) {
    return new IllegalArgumentException(
        "@Locked on " + method + ": #{" + part.getExpressionString() + "} " + why, cause);
  }
}
