import { expect, it } from 'vitest';
import { CONFIG } from '../../config/check/schema.ts';
import { QUIET_KEYS, SHOWN_KEYS, keysOf, leavesOf } from './shown-keys.ts';

it('every key of the configuration is either shown by `parley trust` or known to loosen nothing', () => {
  const keys = new Set(keysOf(CONFIG));
  const listed = [...SHOWN_KEYS, ...QUIET_KEYS];
  expect([...keys].filter((key) => !SHOWN_KEYS.has(key) && !QUIET_KEYS.has(key))).toEqual([]);
  expect(listed.filter((key) => !keys.has(key))).toEqual([]);
  expect(listed.filter((key) => SHOWN_KEYS.has(key) && QUIET_KEYS.has(key))).toEqual([]);
});

it('finds every value of a configuration, whatever its author has called it', () => {
  const config = {
    mcpServers: { a: 'https://a.example', b: { command: 'x', args: ['1', '2'], env: { N: 'v' } } },
    pins: { new: 'flag' },
    steps: ['log', { filter: { deny: ['x'] } }],
  };
  const found = leavesOf(config, CONFIG).map(({ path, key }) => `${path.join('/')} ${key}`);
  expect(found).toEqual([
    'mcpServers/a server',
    'mcpServers/b/command server.command',
    'mcpServers/b/args/0 server.args',
    'mcpServers/b/args/1 server.args',
    'mcpServers/b/env/N server.env.*',
    'pins/new pins.new',
    'steps/0 steps',
    'steps/1/filter steps.*',
  ]);
});
