import { describe, expect, it } from 'vitest';
import { compareConfigs, isSameConfig } from './compare-configs.ts';
import { normalizeConfig } from '../normalize-config.ts';
import type { ConfigInput } from '../check/schema.ts';

const normal = (input: ConfigInput) => normalizeConfig(input, '/');
const a = { command: 'a' };
const b = { command: 'b' };

describe('the difference of two configurations', () => {
  it('is told by server; one that is switched off is as good as gone', () => {
    const before = normal({ servers: { same: a, changed: a, gone: a, off: a, on: { ...a, disabled: true } } });
    const after = normal({ servers: { on: a, same: a, changed: b, off: { ...a, disabled: true } } });
    expect(compareConfigs(before, after)).toEqual({
      added: ['on'],
      removed: ['gone', 'off'],
      changed: ['changed'],
      unchanged: ['same'],
      settled: [],
      live: [],
      restart: [],
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
    expect(compareConfigs(normal({ servers: { a } }), normal(after))).toMatchObject({
      unchanged: ['a'],
      live: ['steps', 'groups', 'names', 'log'],
      restart: ['listen'],
    });
  });

  it('includes other roots, which servers are told; only adding the first or removing all needs a restart', () => {
    const [none, some, other] = [undefined, ['/a'], ['/b']].map((roots) => normal({ servers: { a }, roots }));
    expect(compareConfigs(some!, other!)).toMatchObject({ live: ['roots'], restart: [] });
    expect(compareConfigs(none!, some!)).toMatchObject({ live: [], restart: ['roots'] });
  });

  it('compares what cannot come or go with the configuration of the start', () => {
    const [none, ann, bob] = [undefined, 'ann', 'bob'].map((name) =>
      normal({ servers: { a }, ...(name && { auth: { keys: [{ name, key: `parley_key-of-${name}-0123456789` }] } }) }),
    );
    expect(compareConfigs(ann!, bob!)).toMatchObject({ live: ['auth'], restart: [] });
    expect(compareConfigs(none!, ann!)).toMatchObject({ live: [], restart: ['auth'] });
    expect(compareConfigs(ann!, bob!, none)).toMatchObject({ live: [], restart: ['auth'] });
    expect(compareConfigs(none!, bob!, ann)).toMatchObject({ live: ['auth'], restart: [] });
  });

  it('tells servers that stay open from those that are opened again', () => {
    const before = normal({ servers: { a, b, c: a } });
    const after = normal({
      servers: { a: { ...a, tools: { deny: ['x'] }, rate: { perServer: '1/s' } }, b: { ...b, pins: 'hold' }, c: a },
    });
    expect(compareConfigs(before, after)).toMatchObject({ settled: ['a'], changed: ['b'], unchanged: ['c'] });
  });

  it('does not count what is only for people', () => {
    const [before, after] = [normal({ servers: { a } }), normal({ servers: { a: { ...a, description: 'A' } } })];
    expect(compareConfigs(before, after).unchanged).toEqual(['a']);
    expect(isSameConfig(before, after)).toBe(false);
  });

  it('counts the order of servers', () => {
    expect(isSameConfig(normal({ servers: { a, b } }), normal({ servers: { b, a } }))).toBe(false);
    expect(isSameConfig(normal({ servers: { a, b } }), normal({ mcpServers: { a, b: { ...b, args: [] } } }))).toBe(
      true,
    );
  });
});
