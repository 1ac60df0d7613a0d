// Compiles the expressions of rules (CEL). Loaded only if a rule has one.
// 1. An expression is small, and uses a fixed set of functions. Each takes time proportional to the text it reads: there are no
//    regular expressions, and no loop inside a loop.
// 2. It sees who calls, what would run, and its arguments; nothing that a server says of itself.
import { Environment } from '@marcbachmann/cel-js';
import type { ASTNode } from '@marcbachmann/cel-js';
import { badOption } from '../../chain/step-options.ts';
import { toMatcher } from '../filter/name-rule.ts';

/** What an expression can use. */
export interface ExpressionFacts {
  /** `key:NAME` with an API key, else as the login names them; `anonymous` without one. */
  principal: string;
  /** The name of the API key, and the user of the key or login; empty without one. */
  key: string;
  user: string;
  groups: readonly string[];
  scopes: readonly string[];
  claims: object;
  headers: object;
  server: string;
  kind: string;
  name: string;
  method: string;
  args: object;
  history: object;
}

export interface Expression {
  /** Whether it depends on the arguments, which a list does not know. */
  readonly usesArguments: boolean;
  /** Throws if it cannot be told. */
  holds(facts: ExpressionFacts): boolean;
}

const MAX_LENGTH = 2000;
const LIMITS = { maxAstNodes: 300, maxDepth: 16, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 4 };
const LOOPS = new Set(['all', 'exists', 'exists_one']);
const FUNCTIONS = new Set([
  ...LOOPS,
  'has',
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'glob',
  'lowerAscii',
  'trim',
  'int',
  'double',
  'string',
]);

const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
  .registerVariable('principal', 'string')
  .registerVariable('key', 'string')
  .registerVariable('user', 'string')
  .registerVariable('groups', 'list<string>')
  .registerVariable('scopes', 'list<string>')
  .registerVariable('claims', 'map')
  .registerVariable('headers', 'map')
  .registerVariable('server', 'string')
  .registerVariable('kind', 'string')
  .registerVariable('name', 'string')
  .registerVariable('method', 'string')
  .registerVariable('args', 'map')
  .registerVariable('history', 'map')
  .registerFunction('string.glob(string): bool', (text: string, pattern: string) => toMatcher([pattern])(text));

/** `option`: names the expression in errors. */
export function compileExpression(text: string, option: string): Expression {
  if (text.length > MAX_LENGTH)
    throw badOption(option, `has ${text.length} characters; at most ${MAX_LENGTH} are read`);
  const run = parse(text, option);
  const walk = new Walk(option);
  walk.visit(run.ast, false);
  return {
    usesArguments: walk.usesArguments,
    holds(facts) {
      const value: unknown = run(facts);
      if (typeof value !== 'boolean') throw new TypeError('it is neither true nor false');
      return value;
    },
  };
}

function parse(text: string, option: string) {
  try {
    const run = environment.parse(text);
    const checked = run.check();
    if (!checked.valid) throw checked.error!;
    if (checked.type === 'bool' || checked.type === 'dyn') return run;
  } catch (thrown) {
    throw badOption(option, (thrown as Error).message.split('\n')[0]!);
  }
  throw badOption(option, 'must be true or false');
}

class Walk {
  readonly #option: string;
  usesArguments = false;

  constructor(option: string) {
    this.#option = option;
  }

  visit(node: ASTNode, isInLoop: boolean): void {
    if (node.op === 'id') this.usesArguments ||= node.args === 'args';
    const name = node.op === 'call' || node.op === 'rcall' ? node.args[0] : undefined;
    if (name !== undefined && !FUNCTIONS.has(name))
      throw badOption(this.#option, `"${name}" is not one of the functions: ${[...FUNCTIONS].join(', ')}`);
    const isLoop = name !== undefined && LOOPS.has(name);
    if (isLoop && isInLoop) throw badOption(this.#option, `"${name}" stands in another loop`);
    for (const inner of nodesIn(node.args)) this.visit(inner, isInLoop || isLoop);
  }
}

function nodesIn(value: unknown): ASTNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  const isNode = typeof value === 'object' && value !== null && 'op' in value;
  return isNode ? [value as ASTNode] : [];
}
