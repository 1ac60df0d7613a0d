// Matches URIs against URI templates (RFC 6570) and extracts the variables. Supports {var}, {a,b}, {+var}, {/a,b} and {?a,b}. {var} is one
// path segment, {+var} is anything. As an exception for a common habit, a {var} at the end of a `file:` template may contain slashes.
// Values are percent-decoded, so a handler that opens files must check them. Matching backtracks over at most one variable, so a hostile
// URI costs little.
import { GatewayError } from '../../kernel/base/errors.ts';

export interface UriTemplate {
  /** Undefined if the URI does not match. Variables that the URI leaves out are absent. */
  match(uri: string): Record<string, string> | undefined;
}

const MAX_URI = 8192;

interface Expression {
  operator: '' | '+' | '/' | '?';
  names: string[];
  /** The text between this expression and the next one. */
  literal: string;
  next: Expression | undefined;
}

export function parseUriTemplate(template: string): UriTemplate {
  const [head = '', ...rest] = template.split(/\{([^{}]*)\}/);
  const expressions = toExpressions(rest, template);
  const isFile = template.startsWith('file:');
  const parts = expressions.map((expression) => toPattern(expression, isFile) + escaped(expression.literal));
  const pattern = new RegExp(`^${escaped(head)}${parts.join('')}$`);
  const slots = expressions.flatMap(toSlots);
  return {
    match(uri) {
      const found = uri.length > MAX_URI ? null : pattern.exec(uri);
      return found === null ? undefined : toVariables(found.slice(1), slots);
    },
  };
}

function toExpressions(rest: string[], template: string): Expression[] {
  const expressions: Expression[] = [];
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ''))) throw toBad(template, 'has a brace that is not closed');
  for (let at = rest.length - 2; at >= 0; at -= 2) {
    const parsed = /^([+/?]?)([\w.]+(?:,[\w.]+)*)$/.exec(rest[at] ?? '');
    if (parsed === null) throw toBad(template, `{${rest[at]}} is not supported; use {var}, {+var}, {/var} or {?var}`);
    const operator = parsed[1] as Expression['operator'];
    const names = (parsed[2] ?? '').split(',');
    expressions.unshift({ operator, names, literal: rest[at + 1] ?? '', next: expressions[0] });
  }
  refuseAmbiguous(expressions, template);
  return expressions;
}

function refuseAmbiguous(expressions: Expression[], template: string): void {
  const wide = expressions.filter(({ operator }) => operator === '+');
  if (wide.length > 1 || (wide[0]?.names.length ?? 1) > 1) throw toBad(template, 'has more than one {+variable}');
  for (const { operator, literal, next } of expressions) {
    const touches = literal === '' && next !== undefined && (next.operator === '' || next.operator === '+');
    if (touches) throw toBad(template, 'has two variables with nothing between them');
    if (operator === '?' && (literal !== '' || next !== undefined)) throw toBad(template, '{?…} must come last');
  }
}

/** A variable that is not the last one ends at the next literal, which keeps matching linear. */
function toPattern({ operator, names, literal, next }: Expression, isFile: boolean): string {
  if (operator === '?') return '(?:\\?([^#]*))?';
  if (operator === '/') return names.map(() => '(?:/([^/?#]+))?').join('');
  if (operator === '+') return next?.operator === '?' ? '([^?#]+)' : '(.+)';
  const isWholeRest = isFile && next === undefined && literal === '' && names.length === 1;
  if (isWholeRest) return '([^?#]+)';
  const stop = (next === undefined ? '' : escaped(literal.charAt(0))) + (names.length > 1 ? ',' : '');
  return names.map(() => `([^/?#${stop}]+)`).join(',');
}

type Slot = { name: string } | { query: string[] };

function toSlots({ operator, names }: Expression): Slot[] {
  return operator === '?' ? [{ query: names }] : names.map((name) => ({ name }));
}

function toVariables(values: (string | undefined)[], slots: Slot[]): Record<string, string> | undefined {
  const pairs = slots.flatMap((slot, index): [string, string][] => {
    const value = values[index];
    if (value === undefined) return [];
    return 'name' in slot ? [[slot.name, value]] : toQueryPairs(value, slot.query);
  });
  try {
    return Object.fromEntries(pairs.map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    // No template expands to a broken percent sequence.
    return undefined;
  }
}

function toQueryPairs(query: string, names: string[]): [string, string][] {
  const pairs = query.split('&').map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
  return pairs.filter(([name]) => names.includes(name));
}

function toBad(template: string, reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option: `URI template ${template}`, reason });
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
