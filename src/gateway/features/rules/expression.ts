// Compiles the expressions of rules (CEL). Loaded only if a rule has one.
// 1. An expression is small, and uses a fixed set of functions: there are no regular expressions, and no loop inside a loop.
// 2. What it does is counted as it does it (steps.ts). A caller chooses the arguments, and so how long a loop is and how long its texts are: who judges
//    gives so many steps, and what takes more has no answer.
// 3. It sees who calls, what would run, and its arguments; nothing that a server says of itself.
import { Environment } from '@marcbachmann/cel-js';
import type { ASTNode } from '@marcbachmann/cel-js';
import { badOption } from '../../chain/step-options.ts';
import { containsText, countSteps, globText, nodesIn, stepping } from './steps.ts';
import type { StepBudget } from './steps.ts';

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
  /** Throws if it cannot be told, or takes more steps than are left. */
  holds(facts: ExpressionFacts, budget: StepBudget): boolean;
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

/** The built-in one takes needle × text steps with some texts. */
const CONTAINS = 'containsText';

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
  .registerFunction('string.glob(string): bool', globText)
  .registerFunction(`string.${CONTAINS}(string): bool`, containsText);

/** `option`: names the expression in errors. */
export function compileExpression(text: string, option: string): Expression {
  if (text.length > MAX_LENGTH)
    throw badOption(option, `has ${text.length} characters; at most ${MAX_LENGTH} are read`);
  const walk = new Walk(option);
  walk.visit(parse(text, option).ast, false);
  const run = parse(text, option, withOwnFunctions);
  countSteps(run.ast);
  return {
    usesArguments: walk.usesArguments,
    holds(facts, budget) {
      const value: unknown = stepping(budget, () => run(facts));
      if (typeof value !== 'boolean') throw new TypeError('it is neither true nor false');
      return value;
    },
  };
}

function parse(text: string, option: string, change?: (node: ASTNode) => void) {
  try {
    const run = environment.parse(text);
    change?.(run.ast);
    const checked = run.check();
    if (!checked.valid) throw checked.error!;
    if (checked.type === 'bool' || checked.type === 'dyn') return run;
  } catch (thrown) {
    throw badOption(option, (thrown as Error).message.split('\n')[0]!);
  }
  throw badOption(option, 'must be true or false');
}

function withOwnFunctions(node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'contains') node.args[0] = CONTAINS;
  for (const inner of nodesIn(node.args)) withOwnFunctions(inner);
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
