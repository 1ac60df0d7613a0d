import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAnswer } from './check-answer.ts';
import { matchesPattern, requirePattern } from '../../kernel/form/pattern.ts';
import type { Prompt, Validation } from '../../kernel/form/prompt.ts';
import type { Field, Kind } from './question.ts';

function asked(kind: Kind, validation: Validation = {}, more: Partial<Prompt> = {}): Field {
  return { kind, prompt: { type: 'text', message: '?', validation, ...more } };
}

const choices = ['a', { x: 1 }, 3].map((value) => ({ value, label: String(value) }));

describe('an answer', () => {
  it.each<[string, Field, unknown[], unknown[]]>([
    [
      'text',
      asked('text', { min: 2, max: 3 }),
      ['ab', '😀😀', 'äöü'],
      ['a', '😀', 'abcd', 5, true, {}, ['ab'], 'a\0b'],
    ],
    ['a pattern', asked('text', { pattern: '^[a-z]+$' }), ['abc'], ['ABC', 'a b', 'a\n']],
    [
      'an address',
      asked('text', { format: 'email' }),
      ['a@b.c', 'x+y@z.example'],
      ['a', 'a@b', '@b.c', 'a@b..c', 'a b@c.d'],
    ],
    ['a link', asked('text', { format: 'uri' }), ['https://a.b/c', 'urn:x:y'], ['a.b', '//a', 'http://']],
    ['a number', asked('number', { min: 0, max: 1000 }), [0, 500, 1000, 1.5], [-1, 1001, '5', NaN, Infinity, true, []]],
    ['a whole number', asked('number', { integer: true }), [0, -3], [0.5]],
    ['a confirmation', asked('confirm'), [true, false], ['yes', 1, 0, 'true', null, undefined, '']],
    [
      'a date',
      asked('date'),
      ['2026-11-15', '2024-02-29'],
      ['15/11/2026', '2026-02-29', '2026-13-01', '2026-1-1', 0, '2026-00-10'],
    ],
    [
      'a date in a span',
      asked('date', { min: '2026-01-01', max: '2026-12-31' }),
      ['2026-01-01'],
      ['2025-12-31', '2027-01-01'],
    ],
    ['a choice', asked('choice', {}, { choices }), ['a', { x: 1 }, 3], ['b', '3', { x: 2 }, { x: 1, y: 2 }, []]],
    [
      'some choices',
      asked('choices', { min: 1, max: 2 }, { choices }),
      [['a'], ['a', 3]],
      [[], ['a', 'a'], ['z'], 'a', ['a', { x: 1 }, 3]],
    ],
    ['a custom one', asked('custom', {}, { schema: { type: 'array' } }), [[], [1]], [{}, 'x']],
  ])('is %s or it is not', (_, field, good, bad) => {
    for (const value of good)
      expect(checkAnswer(value, field), JSON.stringify(value)).toEqual({ value, from: 'given' });
    for (const value of bad) expect(checkAnswer(value, field), JSON.stringify(value)).toHaveProperty('complaint');
  });

  it('that is wrong is refused with what is wrong and what to write instead', () => {
    expect(checkAnswer('15/11/2026', asked('date'))).toEqual({
      complaint: { error: 'Invalid format', suggestion: 'Use YYYY-MM-DD' },
    });
    expect(checkAnswer('x', asked('text', { format: 'email' }))).toMatchObject({
      complaint: { error: 'Invalid format' },
    });
  });

  it.each([undefined, null, ''])('is missing if it is %j: then the default counts, or nothing', (nothing) => {
    expect(checkAnswer(nothing, asked('text', { required: true }))).toHaveProperty('complaint');
    expect(checkAnswer(nothing, asked('text'))).toEqual({ value: undefined, from: 'default' });
    expect(checkAnswer(nothing, asked('text', { required: true }, { defaultValue: 'd' }))).toEqual({
      value: 'd',
      from: 'default',
    });
  });

  it('is never a yes because the default is', () => {
    expect(checkAnswer(null, asked('confirm', {}, { defaultValue: true }))).toHaveProperty('complaint');
    expect(checkAnswer(null, asked('confirm', {}, { defaultValue: false }))).toEqual({ value: false, from: 'default' });
  });

  it('to a form is all its fields, and no others', () => {
    const form = { ...asked('form'), fields: { name: asked('text', { required: true }), age: asked('number') } };
    expect(checkAnswer({ name: 'x' }, form)).toEqual({ value: { name: 'x' }, from: 'given' });
    expect(checkAnswer({ age: 'x' }, form)).toEqual({
      complaint: { error: 'name: An answer is required; age: Must be a number' },
    });
    for (const wrong of [[], 'x', { name: 'x', more: 1 }]) expect(checkAnswer(wrong, form)).toHaveProperty('complaint');
  });

  it('may be anything at all, and is only ever accepted or refused', () => {
    const kinds: Kind[] = ['text', 'number', 'confirm', 'date', 'choice', 'choices', 'file', 'custom', 'form'];
    fc.assert(
      fc.property(fc.anything(), fc.constantFrom(...kinds), (value, kind) => {
        const checked = checkAnswer(value, asked(kind, { required: true }, { choices }));
        expect('complaint' in checked || 'value' in checked).toBe(true);
      }),
    );
  });
});

describe('a pattern', () => {
  it.each([
    ['^(a+)+$', 'a'.repeat(40) + '!'],
    ['^(a|a)*$', 'a'.repeat(40) + '!'],
    ['^(.*a){20}$', 'a'.repeat(40) + '!'],
    ['(x+x+)+y', 'x'.repeat(60)],
  ])('that runs away is stopped: %s', (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBe(false);
  });

  it('is refused if it is invalid', () => {
    expect(() => requirePattern('(')).toThrow(/is not a pattern/);
  });

  it('works on long texts too', () => {
    expect(matchesPattern('^x+$', 'x'.repeat(5000))).toBe(true);
    expect(matchesPattern('^(?:x|y)+z$', `${'xy'.repeat(600)}z`)).toBe(true);
  });
});
