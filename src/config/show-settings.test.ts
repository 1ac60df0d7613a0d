import { describe, expect, it } from 'vitest';
import { readConfig } from './read/load-config.ts';
import { showSettings } from './show-settings.ts';
import type { SettingSources } from './show-settings.ts';

const TEXT = `{
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "server"], "env": { "TOKEN": "\${FILES_TOKEN}", "KEY": "hunter2hunter2" }, "timeout": 60000 },
    "web": "https://\${HOST_NAME}/mcp"
  },
  "share": "all",
  "listen": 9000,
  "rules": [{ "tool": "wipe", "effect": "deny" }],
  "log": "info"
}`;

function shown(more: Partial<SettingSources> = {}) {
  const env = { FILES_TOKEN: 's3cret-of-files', HOST_NAME: 'mcp.example.com' };
  const options = { env, cwd: '/x', home: '/h', platform: 'linux', read: () => '' } as const;
  const loaded = readConfig({ path: '/x/parley.config.jsonc', text: TEXT }, options);
  expect(loaded.problems.filter(({ level }) => level === 'error')).toEqual([]);
  const all = showSettings({
    config: loaded.config!,
    loaded,
    ownRules: 0,
    parts: [{ read: loaded.read, file: 'parley.jsonc' }],
    ownFile: 'own.jsonc',
    typed: new Map(),
    ...more,
  });
  return { all, of: (key: string) => all.find((one) => one.key === key), config: loaded.config!, loaded };
}

describe('the settings in effect', () => {
  it('have the place in the file where each value stands, also where it is written in short', () => {
    const { of } = shown();
    expect(of('servers.files.command')).toMatchObject({
      value: '"npx"',
      from: 'file',
      place: 'parley.jsonc:3 mcpServers.files.command',
    });
    expect(of('servers.files.timeoutMs')).toMatchObject({
      value: '60000',
      place: 'parley.jsonc:3 mcpServers.files.timeout',
    });
    expect(of('servers.web.url')).toMatchObject({ place: 'parley.jsonc:4 mcpServers.web' });
    expect(of('servers.web.share')).toMatchObject({ value: '"all"', place: 'parley.jsonc:6 share' });
    expect(of('listen.port')).toMatchObject({ value: '9000', place: 'parley.jsonc:7 listen' });
    expect(of('listen.host')).toMatchObject({ from: 'default' });
    expect(of('log.level')).toMatchObject({ value: '"info"', place: 'parley.jsonc:9 log' });
    expect(of('rules[0]')).toMatchObject({ from: 'file', place: 'parley.jsonc:8 rules[0]' });
    expect(of('servers.files.start')).toMatchObject({ value: '"lazy"', from: 'default', place: null });
    expect(of('limits.maxMessageBytes') ?? of('limits.drainMs')).toMatchObject({ from: 'default' });
    expect(of('console')).toMatchObject({ value: 'true', from: 'default' });
  });

  it('name environment variables in place of their values, and show no secret', () => {
    const { all, of } = shown();
    expect(of('servers.files.env.TOKEN')).toMatchObject({ value: '"${FILES_TOKEN}"', variables: ['FILES_TOKEN'] });
    expect(of('servers.web.url')).toMatchObject({ variables: ['HOST_NAME'] });
    expect(JSON.stringify(all)).not.toMatch(/s3cret|hunter2/);
  });

  it('say what the command line and the own configuration of the user have said', () => {
    const typed = new Map([['listen.port', { option: '--port', value: 8123 }]]);
    const { of, config, loaded } = shown();
    const rules = [{ tool: 'own', effect: 'deny' as const }, ...config.rules!];
    const all = showSettings({
      config: { ...config, rules },
      loaded,
      ownRules: 1,
      parts: [{ read: loaded.read, file: 'f' }],
      ownFile: 'own.jsonc',
      typed,
    });
    const again = (key: string) => all.find((one) => one.key === key);
    expect(again('listen.port')).toMatchObject({ value: '8123', from: 'command line', place: '--port' });
    expect(again('rules[0]')).toMatchObject({ from: 'own file', place: 'own.jsonc' });
    expect(again('rules[1]')).toMatchObject({ from: 'file', place: 'f:8 rules[0]' });
    expect(of('rules[1]')).toBe(undefined);
  });
});
