// Completions: which of the values that a server suggests a client may see. A value is judged as if it had been chosen.
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import type { Outcome } from '../../kernel/step.ts';

/** What the protocol allows; more are not judged. */
const MAX_VALUES = 100;

/** Removes the values that may not be used; then nobody learns how many there are, either. */
export function withValues(outcome: Outcome, isShown: (value: string) => boolean): Outcome {
  const { completion } = outcome.result;
  if (!isObject(completion) || !Array.isArray(completion.values)) return outcome;
  const values = completion.values.slice(0, MAX_VALUES);
  const shown = values.filter((value: unknown) => isShown(textOf(value)));
  if (shown.length === completion.values.length) return outcome;
  const { total: _, ...rest } = completion;
  const hasMore = shown.length === values.length; // else the number would tell of values that are not shown
  outcome.result = { ...outcome.result, completion: { ...rest, values: shown, hasMore } };
  return outcome;
}

/** The arguments so far, with this value for the one that is being completed. */
export function completedArguments({ argument, context }: JsonObject, value: string): JsonObject {
  const given = isObject(context) && isObject(context.arguments) ? context.arguments : {};
  return isObject(argument) ? { ...given, [String(argument.name)]: value } : given;
}

/** A URI template (RFC 6570) up to the first expression without a value. Values are not escaped: rules know every spelling. */
export function expandTemplate(template: string, values: JsonObject): string {
  let expanded = '';
  for (const part of template.split(/(\{[^{}]*\})/)) {
    if (!part.startsWith('{')) expanded += part;
    else {
      const [, operator = '', names = ''] = /^\{([+#./;?&]?)([^}]*)\}$/.exec(part) ?? [];
      const known = names.split(',').flatMap((name) => textOf(values[name.replace(/[*:].*$/, '')]) || []);
      if (known.length === 0) return expanded;
      expanded += (operator === '+' ? '' : operator) + known.join(operator === '/' ? '/' : ',');
    }
  }
  return expanded;
}

/** Some servers describe their values. */
function textOf(value: unknown): string {
  if (isObject(value)) return textOf(value.value);
  return typeof value === 'string' ? value : '';
}
