import { describe, expect, it } from 'vitest';
import { compileExpression } from './expression.ts';
import type { ExpressionFacts } from './expression.ts';
import { StepBudget, containsText, isOutOfSteps } from './steps.ts';

const NOBODY = { principal: '', key: '', user: '', groups: [], scopes: [], claims: {}, headers: {} };
const factsOf = (args: object): ExpressionFacts => ({
  ...NOBODY,
  server: '',
  kind: 'tool',
  name: '',
  method: 'tools/call',
  args,
  history: {},
});

function outcome(text: string, args: object, budget = new StepBudget()): unknown {
  try {
    return compileExpression(text, 'when').holds(factsOf(args), budget);
  } catch (thrown) {
    return isOutOfSteps(thrown) ? 'out of steps' : (thrown as Error).message;
  }
}

const times = (count: number, value: unknown) => Array.from({ length: count }, () => value);
const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);
const long = 'a'.repeat(1_000_000);

describe('an expression', () => {
  it.each([
    ['args.l.exists(x, args.s.lowerAscii() == "b")', { l: times(1000, 1), s: long }],
    ['args.l.exists(x, args.s.trim() == "")', { l: times(1000, 1), s: long }],
    ['args.l.exists(x, args.s + args.s == "b")', { l: times(1000, 1), s: long }],
    ['args.l.exists(x, size(args.o) == 1)', { l: times(20_000, 1), o: Object.assign({}, times(10_000, 1)) }],
    ['args.l.exists(x, size(args.l + args.l) == 1)', { l: times(20_000, 1) }],
    ['args.l.exists(x, x == args.m)', { l: times(1000, times(1000, 1)), m: [...times(999, 1), 2] }],
    ['args.l.exists(x, x in args.m)', { l: times(20_000, nested(1)), m: [nested(500)] }],
    ['args.l.all(x, x in args.o)', { l: times(400, '1'), o: Object.assign({}, times(100_000, 1)) }],
    ['args.o.all(x, args.o[x] == 1)', { o: Object.assign({}, times(330_000, 1)) }],
    ['args.l.exists_one(x, x > 5)', { l: times(1_300_000, 1) }],
    ['args.l.all(x, x.y.z == 1)', { l: times(400_000, {}) }],
    ['args.l.exists(x, args.s.startsWith(args.s) && false)', { l: times(1000, 1), s: long }],
    ['args.l.exists(x, [args.s, args.s] == [x, x]) || true', { l: times(100_000, long) }],
  ])('runs out of steps: %s', (text, args) => {
    expect(outcome(text, args)).toBe('out of steps');
  });

  it.each([
    ['args.body.contains("password") || args.body.lowerAscii().contains("secret")', { body: long }, false],
    ['args.to.all(x, x.endsWith("@example.com"))', { to: times(10_000, 'me@example.com') }, true],
    ['args.tags.all(x, x in args.allowed)', { tags: times(1000, 'b'), allowed: times(100, 'b') }, true],
    ['args.tags.all(x, x in args.allowed)', { tags: times(100, '1'), allowed: Object.assign({}, times(100, 1)) }, true],
    ['args.path.glob("/data/*.txt")', { path: '/data/a.txt' }, true],
  ])('has enough steps for what rules are for: %s', (text, args, wanted) => {
    expect(outcome(text, args)).toBe(wanted);
  });

  it('shares its steps with the others of a judgement, and an end is final', () => {
    const budget = new StepBudget(10_000);
    expect(outcome('args.a == 1.0', { a: 1 }, budget)).toBe(true);
    expect(outcome('args.s.contains("b")', { s: long }, budget)).toBe('out of steps');
    expect(outcome('true || args.a == 1.0', { a: 1 }, budget)).toBe('out of steps');
  });

  it('an expression that hides an end behind a logic operator has no answer, either', () => {
    const args = { l: times(50, 1), s: long };
    expect(outcome('args.l.exists(x, args.s.contains("b")) || true', args)).toBe('out of steps');
    expect(outcome('!args.l.exists(x, args.s.contains("b"))', args)).toBe('out of steps');
  });
});

describe('containsText', () => {
  it('says the same as `includes`', () => {
    const letters = (seed: number, count: number) =>
      Array.from({ length: count }, (_, n) => 'ab'[((seed * (n + 7) * 31 + n * n) >> 3) & 1]).join('');
    for (let seed = 1; seed < 200; seed++) {
      const text = letters(seed, 400);
      for (const needle of [letters(seed + 1, 34), text.slice(seed, seed + 60), `${text.slice(0, 40)}b`, text, ''])
        expect([seed, containsText(text, needle)]).toEqual([seed, text.includes(needle)]);
    }
  });
});
