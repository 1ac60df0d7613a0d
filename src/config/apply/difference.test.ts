import { describe, expect, it } from 'vitest';
import { difference, isSame } from './difference.ts';
import { normalize } from '../normalize.ts';
import type { ConfigInput } from '../check/schema.ts';

const normal = (input: ConfigInput) => normalize(input, '/');
const a = { command: 'a' };
const b = { command: 'b' };

describe('the difference of two configurations', () => {
  it('is told by server; one that is switched off is as good as gone', () => {
    const before = normal({ servers: { same: a, changed: a, gone: a, off: a, on: { ...a, disabled: true } } });
    const after = normal({ servers: { on: a, same: a, changed: b, off: { ...a, disabled: true } } });
    expect(difference(before, after)).toEqual({
      ...{ added: ['on'], removed: ['gone', 'off'], changed: ['changed'], unchanged: ['same'] },
      ...{ steps: false, groups: false, names: false, roots: false, restart: [] },
    });
  });

  it('is told by key for the rest, and which ones need a new start', () => {
    const after: ConfigInput = {
      servers: { a },
      steps: ['log'],
      names: 'on-collision',
      groups: { g: ['a'] },
      listen: 1,
      log: 'info',
    };
    expect(difference(normal({ servers: { a } }), normal(after))).toMatchObject({
      ...{ unchanged: ['a'], steps: true, groups: true, names: true, restart: ['listen', 'log'] },
    });
  });

  it('is told of other roots, of which servers hear; only whether there are any needs a new start', () => {
    const [none, some, other] = [undefined, ['/a'], ['/b']].map((roots) => normal({ servers: { a }, roots }));
    expect(difference(some!, other!)).toMatchObject({ roots: true, restart: [] });
    expect(difference(none!, some!)).toMatchObject({ roots: true, restart: ['roots'] });
  });

  it('does not count what is only for people', () => {
    const [before, after] = [normal({ servers: { a } }), normal({ servers: { a: { ...a, description: 'A' } } })];
    expect(difference(before, after).unchanged).toEqual(['a']);
    expect(isSame(before, after)).toBe(false);
  });

  it('counts the order of servers', () => {
    expect(isSame(normal({ servers: { a, b } }), normal({ servers: { b, a } }))).toBe(false);
    expect(isSame(normal({ servers: { a, b } }), normal({ mcpServers: { a, b: { ...b, args: [] } } }))).toBe(true);
  });
});
