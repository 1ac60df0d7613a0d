import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealer } from './seal.ts';

const payload = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe('a seal', () => {
  it('opens to its payload for its purpose and binding', () => {
    const sealer = createSealer(['k']);
    fc.assert(
      fc.property(payload, fc.string(), fc.string(), (value, purpose, binding) => {
        expect(sealer.open(purpose, binding, sealer.seal(purpose, binding, value))).toEqual(value);
      }),
    );
  });

  it('opens for no other purpose or binding, however the two are put together', () => {
    const sealer = createSealer(['k']);
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.nat(), (purpose, binding, at) => {
        const sealed = sealer.seal(purpose, binding, 1);
        const whole = purpose + binding;
        const cut = at % (whole.length + 1);
        fc.pre(cut !== purpose.length);
        expect(sealer.open(whole.slice(0, cut), whole.slice(cut), sealed)).toBeUndefined();
        expect(sealer.open(purpose, `${binding}x`, sealed)).toBeUndefined();
      }),
    );
  });

  it('a seal does not open if altered, cut or lengthened', () => {
    const sealer = createSealer(['k']);
    const sealed = sealer.seal('p', 'b', { secret: 'word' });
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(sealer.open('p', 'b', sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeUndefined();
      expect(sealer.open('p', 'b', sealed.slice(0, at))).toBeUndefined();
    }
    for (const tail of ['A', '=', ' ', '\n', '!']) expect(sealer.open('p', 'b', sealed + tail)).toBeUndefined();
  });

  it('a seal does not open if made up', () => {
    const sealer = createSealer();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (anything) => {
        expect(sealer.open('p', 'b', anything)).toBeUndefined();
      }),
    );
  });

  it('hides its content, and is never the same twice', () => {
    const sealer = createSealer(['k']);
    const [one, two] = [sealer.seal('p', 'b', 'word'), sealer.seal('p', 'b', 'word')];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(Buffer.from(one, 'base64url').includes('word')).toBe(false);
  });
});

describe('keys', () => {
  it('keys can be rotated: the first seals, all open, a removed one does not', () => {
    const old = createSealer(['old']).seal('p', 'b', 1);
    const rotated = createSealer(['new', 'old']);
    expect(rotated.open('p', 'b', old)).toBe(1);
    const fresh = rotated.seal('p', 'b', 2);
    expect(createSealer(['new']).open('p', 'b', fresh)).toBe(2);
    expect(createSealer(['old']).open('p', 'b', fresh)).toBeUndefined();
    expect(createSealer(['new']).open('p', 'b', old)).toBeUndefined();
  });

  it('keys are made for each process if absent, and are then not durable', () => {
    const [one, two] = [createSealer(), createSealer([])];
    expect([one.durable, two.durable, createSealer(['k']).durable]).toEqual([false, false, true]);
    expect(two.open('p', 'b', one.seal('p', 'b', 1))).toBeUndefined();
  });

  it.each([[''], [undefined], [5]])('keys must not be %j', (key) => {
    expect(() => createSealer([key as string])).toThrow(/keys.*is the variable set/);
  });
});
