// A configuration that changes under a gateway that runs: eras, names, and the lists of a server that is away. Real processes.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../helpers/files.ts';
import { fixture } from '../helpers/fixture-server.ts';
import { send } from '../helpers/http-wire.ts';
import { ask, modern } from '../helpers/mcp-http.ts';
import { Home } from '../helpers/parley.ts';
import { until } from '../helpers/until.ts';

const bridged = fixture('bridged', ['--stdio']);

interface Listed {
  name: string;
  _meta?: Record<string, unknown>;
}

async function toolsAt(url: string): Promise<Listed[]> {
  const { json } = await send(url, modern('tools/list'));
  return json.result!.tools as Listed[];
}

/** A list does not wait for long for a server that starts. */
async function hasTools(url: string, ...names: string[]): Promise<void> {
  await until(`the tools ${names.join(', ')}`, async () => {
    const tools = await toolsAt(url);
    return names.every((name) => tools.some((tool) => tool.name === name));
  });
}

/** Which era is spoken with each server, as `parley status` tells it. */
async function erasOf(home: Home, url: string): Promise<Record<string, string>> {
  const { stdout } = await home.run(['status', '--json', '--url', url]);
  const { servers } = JSON.parse(stdout) as { servers: { name: string; era: string }[] };
  return Object.fromEntries(servers.map(({ name, era }) => [name, era]));
}

describe('a configuration that changes', () => {
  test('pins the era of a server; another one restarts that server alone', async () => {
    using home = new Home();
    const write = (era: string) =>
      home.write('parley.config.json', {
        servers: { one: { ...bridged, era }, two: { ...bridged, era: 'stateless' } },
        names: 'always',
      });
    write('handshake');
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    const url = await gateway.url();
    await hasTools(url, 'one__pid', 'two__pid');
    expect(await erasOf(home, url)).toEqual({ one: 'handshake', two: 'stateless' });
    const [one, two] = [await ask(url, 'one__pid'), await ask(url, 'two__pid')];
    write('stateless');
    await gateway.says('has changed: restarted one.');
    await hasTools(url, 'one__pid', 'two__pid');
    expect(await ask(url, 'one__pid')).not.toBe(one);
    expect(await erasOf(home, url)).toEqual({ one: 'stateless', two: 'stateless' });
    expect(await ask(url, 'two__pid')).toBe(two);
    write('handshake');
    await until('the second change', async () => (await erasOf(home, url))['one'] !== 'stateless');
    await hasTools(url, 'one__pid', 'two__pid');
    expect(await ask(url, 'two__pid')).toBe(two);
  });

  test('is logged as news where it is used, and as a warning where it cannot be', async () => {
    using home = new Home();
    const write = (servers: object) => home.write('parley.config.json', { servers });
    write({ one: bridged });
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    await gateway.url();
    const levelOf = async (words: string): Promise<unknown> => {
      await gateway.says(words);
      const line = gateway.stderr.split('\n').find((one) => one.includes(words))!;
      return (JSON.parse(line) as { level?: unknown }).level;
    };
    write({ one: bridged, two: bridged });
    expect(await levelOf('has changed: started two.')).toBe('info');
    write({ one: { comand: 'x' } });
    expect(await levelOf('unknown key')).toBe('warn');
    expect(await levelOf('has changed and cannot be used')).toBe('warn');
  });

  test('gives other names at once; qualified ones lead to their tools by either rule', async () => {
    using home = new Home();
    const rest = { servers: { one: bridged, two: bridged }, ask: { channels: [] } };
    const write = (names: string) => home.write('parley.config.json', { ...rest, names });
    write('on-collision');
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    const url = await gateway.url();
    await hasTools(url, 'pid', 'two__pid');
    const pid = await ask(url, 'pid');
    expect(await ask(url, 'one__pid')).toBe(pid);
    write('always');
    await gateway.says('has changed: renewed names.');
    expect((await toolsAt(url)).every(({ name }) => /^(one|two)__/.test(name))).toBe(true);
    expect(await ask(url, 'one__pid')).toBe(pid);
    await expect(ask(url, 'pid')).rejects.toThrow('Unknown tool');
  });

  test('does not forget what a server offered that is away', async () => {
    using home = new Home();
    // It starts once; after that it is not to be had any more.
    const program = home.write(
      'once.mjs',
      `import { existsSync, writeFileSync } from 'node:fs';
       if (existsSync('${join(home.path, 'started')}')) process.exit(1);
       writeFileSync('${join(home.path, 'started')}', '');
       await import('${join(ROOT, 'tests', 'fixtures', 'servers', 'bridged.mjs')}');`,
    );
    const args = [...bridged.args!.slice(0, -2), program, '--stdio'];
    const servers = { once: { ...bridged, args, era: 'handshake' }, other: { ...bridged, era: 'handshake' } };
    home.write('parley.config.json', { servers, names: 'always' });
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    const url = await gateway.url();
    await hasTools(url, 'once__die', 'other__die');
    await send(url, modern('tools/call', { name: 'once__die', arguments: {} }));
    const isMarked = async () => {
      const echo = (await toolsAt(url)).find(({ name }) => name === 'once__echo');
      return echo?._meta?.['mcp-parley/unavailable'] !== undefined;
    };
    await until('the tools of a server that is away to be marked', isMarked);
    home.write('parley.config.json', {
      servers: { ...servers, third: { ...bridged, era: 'handshake' } },
      names: 'always',
    });
    await gateway.says('has changed: started third.');
    expect(await isMarked()).toBe(true);
    await hasTools(url, 'once__echo', 'third__echo');
  });

  test('has steps of the user, which follow their files; one that cannot be loaded leaves the former at work', async () => {
    using home = new Home();
    const write = (text: string, rest = '') =>
      home.write(
        'mine.ts',
        `import { respond } from 'mcp-parley';
         import { onCall } from 'mcp-parley/middleware';
         export const mine = onCall(async function mine(): Promise<ReturnType<typeof respond>> {
           return respond({ content: [{ type: 'text', text: '${text}' }] });
         });${rest}`,
      );
    write('first');
    home.write('parley.config.json', { servers: { one: bridged }, steps: ['./mine.ts'], ask: { channels: [] } });
    await using gateway = home.start(['serve', '--port', '0', '--open']);
    const url = await gateway.url();
    expect(await ask(url, 'pid')).toBe('first');
    write('second');
    await until('the second version', async () => (await ask(url, 'pid')) === 'second');
    write('third', ' }}}');
    await gateway.says('step.kept');
    expect(await ask(url, 'pid')).toBe('second');
    write('fourth');
    await until('the fourth version', async () => (await ask(url, 'pid')) === 'fourth');
  });
});
