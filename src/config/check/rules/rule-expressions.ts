// The expressions of rules. They are compiled before a configuration is used, and their code is loaded only then.
import type { RuleOptions } from '../../../gateway/middleware/steps/rules/rule.ts';
import { GatewayError } from '../../../shared/errors.ts';

function toExpressions(rules: readonly RuleOptions[] = []): { name: string; when: string }[] {
  return rules.flatMap(({ when }, index) => (when === undefined ? [] : [{ name: `rules[${index}]`, when }]));
}

/** Undefined if it can be used. */
export async function expressionProblem(name: string, when: string): Promise<string | undefined> {
  const { compileExpression } = await import('../../../gateway/middleware/steps/rules/expression.ts');
  try {
    compileExpression(when, `${name}.when`);
    return undefined;
  } catch (thrown) {
    return String((thrown as GatewayError).details.reason);
  }
}

/** Throws at the first one that cannot be used. */
export async function requireExpressions(rules: readonly RuleOptions[] | undefined): Promise<void> {
  for (const { name, when } of toExpressions(rules)) {
    const reason = await expressionProblem(name, when);
    if (reason !== undefined) throw new GatewayError('BAD_OPTION', { option: `${name}.when`, reason });
  }
}
