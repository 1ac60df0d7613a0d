import { describe, expect, it } from 'vitest';
import { readConfig } from '../read/load-config.ts';
import { digestConfig } from './config-digests.ts';

let folders = 0;

function digest(config: object, env: Record<string, string> = {}) {
  const folder = `/etc/of-${folders++}`;
  const path = `${folder}/parley.config.json`;
  const text = JSON.stringify({ mcpServers: { one: { url: 'http://one/mcp' } }, ...config });
  const { config: read, used, problems } = readConfig({ path, text }, { env, home: folder, cwd: folder });
  if (!read) throw new Error(JSON.stringify(problems));
  return digestConfig({ config: read, used, path });
}

const differing = (one: Record<string, string>, other: Record<string, string>) =>
  Object.keys({ ...one, ...other }).filter((key) => one[key] !== other[key]);

describe('digests of a configuration', () => {
  it('digests are the same in another folder, and in another order of members', () => {
    const one = { steps: [{ './step.mjs': {} }], rate: { perCaller: '1/s', perServer: '2/s' } };
    const other = { rate: { perServer: '2/s', perCaller: '1/s' }, steps: [{ './step.mjs': {} }] };
    expect(differing(digest(one), digest(other))).toEqual([]);
  });

  it('digests say in which top key two differ', () => {
    expect(differing(digest({ rate: { perCaller: '1/s' } }), digest({ rate: { perCaller: '2/s' } }))).toEqual(['rate']);
    expect(differing(digest({}), digest({ names: 'on-collision' }))).toEqual(['names']);
  });

  it('digests do not count what belongs to one machine: its port, and values of its environment', () => {
    const config = { mcpServers: { one: { url: 'http://one/mcp', headers: { 'x-token': '${TOKEN}' } } } };
    const one = digest({ ...config, listen: { port: 1 } }, { TOKEN: 'a-long-token-of-one' });
    const other = digest({ ...config, listen: { port: 2 } }, { TOKEN: 'a-long-token-of-another' });
    expect(differing(one, other)).toEqual([]);
  });

  it('digests count the secrets of auth, since they decide who comes in', () => {
    const auth = { auth: { keys: [{ name: 'me', key: '${KEY}' }] } };
    expect(
      differing(digest(auth, { KEY: 'a secret key of one' }), digest(auth, { KEY: 'a secret key of another' })),
    ).toEqual(['auth']);
  });
});
