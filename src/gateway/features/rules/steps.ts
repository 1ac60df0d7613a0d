// Counts what expressions do, step by step, so that no arguments make one run for long. A step is about 10 ns.
// 1. Every operation counts what it reads: the characters of a text, the entries of a list, what a comparison goes through.
// 2. A loop counts before it begins: so many rounds, with so many operations each.
// 3. Out of steps is final. Logic operators take an error for an unknown value and go on; what they make of it does not count.
import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '../../../kernel/message.ts';
import { matches } from '../../matching/name-rule.ts';

/** For one judgement, whatever number of rules and forms of a URI it takes: about 100 ms. */
const STEPS = 10_000_000;
const OPERATION_STEPS = 5;
const CHARS_PER_STEP = 4;
const ENTRY_STEPS = 4;
/** The type of a value is found out by its first entry, and so on. */
const LEVEL_STEPS = 50;
const MAX_LEVELS = 512;
const KEY_STEPS = 8;
/** Errors are made with a text that points at the place. */
const ERROR_STEPS = 500;

/** Made once: an error that is thrown in each round of a loop must not cost much. */
const OUT_OF_STEPS = new Error('it takes too many steps with these arguments');

export class StepBudget {
  /** What each operation has last returned. */
  readonly values: Map<ASTNode, unknown> = new Map();
  #left: number;
  readonly #sizes = new WeakMap<object, number>();
  readonly #typeSteps = new WeakMap<object, number>();

  constructor(steps: number = STEPS) {
    this.#left = steps;
  }

  get left(): number {
    return this.#left;
  }

  spend(steps: number): void {
    this.#left -= steps;
    this.check();
  }

  check(): void {
    if (this.#left < 0) throw OUT_OF_STEPS;
  }

  /** All entries of a value, at any depth. It is found out once for each value, which counts, too. */
  sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length / CHARS_PER_STEP;
    if (typeof value !== 'object' || value === null) return 1;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    const entries: unknown[] = Array.isArray(value) ? value : Object.values(value);
    this.spend(entries.length);
    let size = ENTRY_STEPS;
    for (const one of entries) size += ENTRY_STEPS + this.sizeOf(one);
    this.#sizes.set(value, size);
    return size;
  }

  /** What it takes to find out the type of a value: its first entry, and that of the first entry, and so on. V8 reads all keys of a map for that. */
  typeStepsOf(value: object): number {
    let steps = this.#typeSteps.get(value);
    if (steps !== undefined) return steps;
    steps = 0;
    let one: unknown = value;
    for (let level = 0; typeof one === 'object' && one !== null && level < MAX_LEVELS; level++) {
      const keys = Array.isArray(one) ? [] : Object.keys(one);
      this.spend(keys.length);
      steps += LEVEL_STEPS + keys.length * KEY_STEPS;
      one = Array.isArray(one) ? one[0] : (one as Record<string, unknown>)[keys[0]!];
    }
    this.#typeSteps.set(value, steps);
    return steps;
  }
}

export function isOutOfSteps(thrown: unknown): boolean {
  return thrown === OUT_OF_STEPS;
}

/** Expressions are evaluated one after the other, each to its end. */
let current: StepBudget | undefined;

/** Runs an expression whose steps are counted. */
export function stepping<T>(budget: StepBudget, run: () => T): T {
  budget.check();
  const before = budget.left;
  current = budget;
  try {
    const value = run();
    budget.check();
    if (budget.left === before) throw new Error('its steps were not counted');
    return value;
  } catch (thrown) {
    budget.check();
    throw thrown;
  } finally {
    current = undefined;
  }
}

interface Evaluated {
  evaluate: (...args: unknown[]) => unknown;
}

const COMPARES = new Set(['==', '!=', 'in']);
const READS = new Set(['+', '<', '<=', '>', '>=', '[]']);
const LOOPS = new Set(['all', 'exists', 'exists_one']);

/** Has every operation of an expression counted. The nodes evaluate themselves, and replace their way to do so when they first do. */
export function countSteps(root: ASTNode): void {
  const visit = (node: ASTNode, rounds?: { body: number }): void => {
    const operands = nodesIn(node.args);
    const name = node.op === 'rcall' ? node.args[0] : '';
    const isLoop = LOOPS.has(name);
    const body = isLoop ? operands.slice(1).reduce((sum, one) => sum + countNodes(one), 1) : 0;
    operands.forEach((one, index) => visit(one, isLoop && index === 0 ? { body } : undefined));
    const counted = node as unknown as Evaluated;
    let { evaluate } = counted;
    const wrapped = function (this: unknown, ...args: unknown[]): unknown {
      current?.spend(OPERATION_STEPS);
      const value = orSpend(() => evaluate.apply(node, args));
      current?.values.set(node, value);
      if (rounds && isObjectOrList(value)) current?.spend(countEntries(value) * rounds.body * OPERATION_STEPS);
      if (!isLoop) spendOn(node, operands);
      return value;
    };
    Object.defineProperty(node, 'evaluate', {
      get: () => wrapped,
      set(next: typeof evaluate) {
        evaluate = next;
      },
    });
  };
  visit(root);
}

let lastThrown: unknown;

/** An error passes through the operations around it, and counts once. */
function orSpend(run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    if (thrown !== lastThrown) current?.spend(ERROR_STEPS);
    lastThrown = thrown;
    throw thrown;
  }
}

/** What an operation has read. */
function spendOn({ op }: ASTNode, operands: readonly ASTNode[]): void {
  if (!current) return;
  const isCall = op === 'call' || op === 'rcall';
  const isReading = isCall || COMPARES.has(op) || READS.has(op);
  let steps = 0;
  for (const node of operands) {
    const one = current.values.get(node);
    if (isObjectOrList(one)) steps += current.typeStepsOf(one);
    if (!isReading) continue;
    if (typeof one === 'string' || Array.isArray(one) || (COMPARES.has(op) && op !== 'in') || isCall)
      steps += op === '[]' ? 1 : current.sizeOf(one);
  }
  current.spend(steps);
}

function isObjectOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function countEntries(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function countNodes(node: ASTNode): number {
  return nodesIn(node.args).reduce((sum, one) => sum + countNodes(one), 1);
}

/** The nodes among the operands of a node. */
export function nodesIn(value: unknown): ASTNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return isObject(value) && 'op' in value ? [value as unknown as ASTNode] : [];
}

export function globText(text: string, pattern: string): boolean {
  return matches(pattern, text, (steps) => current?.spend(steps));
}

/** V8 looks for a short text without going back far. */
const SHORT = 32;

/** Knuth, Morris and Pratt: the time does not depend on what the texts are. */
export function containsText(text: string, needle: string): boolean {
  if (needle.length <= SHORT || needle.length > text.length) return text.includes(needle);
  current?.spend(text.length + needle.length);
  const borders = bordersOf(needle);
  let fits = 0;
  for (let at = 0; at < text.length; at++) {
    while (fits > 0 && text.charCodeAt(at) !== needle.charCodeAt(fits)) fits = borders[fits - 1]!;
    if (text.charCodeAt(at) === needle.charCodeAt(fits)) fits++;
    if (fits === needle.length) return true;
  }
  return false;
}

/** For each length, how much of the beginning of the needle is also its end. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let fits = 0;
  for (let at = 1; at < needle.length; at++) {
    while (fits > 0 && needle.charCodeAt(at) !== needle.charCodeAt(fits)) fits = borders[fits - 1]!;
    if (needle.charCodeAt(at) === needle.charCodeAt(fits)) fits++;
    borders[at] = fits;
  }
  return borders;
}
