import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { StderrTail, createStdioLink, type StdioLinkOptions } from './stdio.ts';
import {
  call,
  describeLink,
  started,
  type LinkPeer,
  type RecordedEvents,
} from '../../../gateway/servers/upstream.contract.ts';

describeLink({ name: 'stdio', connect: (limits) => child('echo', { limits }) });

test('a command that does not exist is named, with what to do', async () => {
  const link = createStdioLink({ command: 'no-such-command-of-parley' });
  const told = await startFails(link.start.bind(link));
  expect(told).toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message: expect.stringContaining('command not found: no-such-command-of-parley; is it on PATH?'),
  });
});

test('a working directory that does not exist is named, rather than the command', async () => {
  const link = createStdioLink({ command: process.execPath, cwd: '/no/such/place' });
  expect(String(await startFails(link.start.bind(link)))).toContain('working directory not found: /no/such/place');
});

test('a file that may not be run is named', async () => {
  const link = createStdioLink({ command: fixture('echo') });
  expect(String(await startFails(link.start.bind(link)))).toContain('is it executable?');
});

test('a server that exits at once is reported with its exit code and stderr', async () => {
  await using peer = await started(() => child('exits-at-once'));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes).toEqual(['exit code 3; stderr: API_KEY is not set']);
});

test('a flood on stderr stops nothing, and only its end is kept', async () => {
  await using peer = await started(() => child('floods-stderr'));
  await peer.link.send(call('echo'));
  await peer.told.answer('echo');
  await peer.link.send(call('die'));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes[0]).toMatch(/^exit code 7; stderr: [^]*the very last word$/);
  expect(peer.told.closes[0]!.length).toBeLessThan(5000);
});

test('a server gets a small environment, its own variables, and its arguments as they are', async () => {
  process.env.PARLEY_TEST_SECRET = 'hidden';
  const args = ['a b', '$HOME', '"; exit', ''];
  await using peer = await started(() => child('prints-env', { env: { OWN: 'yes' }, cwd: tmpdir() }, args));
  await peer.told.until(() => peer.told.notes().length > 0, 'the environment');
  const [{ env, ...rest } = {}] = peer.told.notes() as { env?: Record<string, string> }[];
  expect(rest).toEqual({ args, cwd: tmpdir() });
  expect(env).toMatchObject({ OWN: 'yes', PATH: process.env.PATH });
  expect(env).not.toHaveProperty('PARLEY_TEST_SECRET');
});

test('a server that ignores the end of its stdin and SIGTERM is killed', async () => {
  await using peer = await started(() => child('ignores-sigterm', { stopMs: 50 }));
  const pid = await saidPid(peer.told);
  await peer.link.close();
  expect(peer.told.closes).toEqual(['killed by SIGKILL']);
  expect(isAlive(pid)).toBe(false);
});

test('a process that the server left behind is gone after close', async () => {
  await using peer = await started(() => child('spawns-grandchild', { stopMs: 50 }));
  const pid = await saidPid(peer.told);
  expect(isAlive(pid)).toBe(true);
  await peer.link.close();
  await untilDead(pid);
});

test("a dead server's child processes end with it, and its end is reported although its stdout is still held", async () => {
  await using peer = await started(() => child('spawns-grandchild', { stopMs: 50 }, ['now']));
  const pid = await saidPid(peer.told);
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes).toEqual(['exit code 0']);
  await untilDead(pid);
});

test('a process that exits without closing its links leaves no server behind', async () => {
  const script = ['--import', 'tsx', fixture('leaves-a-child-behind'), fixture('ignores-sigterm')];
  const parent = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  parent.stdout.on('data', (chunk) => (output += String(chunk)));
  await once(parent, 'close');
  expect(Number(output)).toBeGreaterThan(0);
  await untilDead(Number(output));
});

test('send waits for a server that does not read, and is refused when it ends', async () => {
  await using peer = await started(() => child('never-reads', { stopMs: 50 }));
  let isWritten = false;
  const sent = peer.link.send(call('echo', { text: 'x'.repeat(8_000_000) })).then(() => (isWritten = true));
  await peer.told.until(() => peer.told.notes().length > 0, 'its start');
  expect(isWritten).toBe(false);
  const refused = expect(sent).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  await peer.link.close();
  await refused;
});

test('a server that sends a line without an end is ended at once, without the time that others have to leave', async () => {
  const program = `
    const more = () => process.stdout.write('x'.repeat(1_000_000), more);
    process.stdout.on('error', () => {});
    more();`;
  const options = { args: ['-e', program], stopMs: 600_000, limits: { maxResultBytes: 1000 } };
  const link = createStdioLink({ command: process.execPath, ...options });
  await using peer = await started(async () => ({ link, [Symbol.asyncDispose]: () => link.close() }));
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes).toEqual(['it sends a line without an end']);
});

const SECRET = 'swordfishes';

test('the end of stderr that is kept masks what was given to the child, in pieces, too', () => {
  const tail = new StderrTail({ WORD: SECRET, LEVEL: 'info' });
  const logged = [Buffer.from('info: sword'), Buffer.from('fishes\nno '), Buffer.from('end')].map((one) =>
    tail.push(one),
  );
  expect([...logged, tail.end(), tail.end()]).toEqual(['', 'info: [redacted]\n', '', 'no end', '']);
  expect(tail.text()).toBe('info: [redacted]\nno end');
});

test('the line that names an error comes first, also before pages of paths and without its stack', () => {
  const tail = new StderrTail();
  tail.push(Buffer.from('starting\n/srv/node_modules/bindings/bindings.js:126\n  err = new Error(message);\n  ^\n\n'));
  tail.push(Buffer.from('Error: Could not locate the bindings file. Tried:\n'));
  for (let at = 0; at < 40; at++)
    tail.push(Buffer.from(` → /srv/node_modules/sqlite/build/${'x'.repeat(150)}/${at}.node\n`));
  tail.push(Buffer.from('    at bindings (/srv/bindings.js:126:9)\n\nNode.js v20.20.2\n'));
  const [first, ...others] = tail.text().split('\n');
  expect(first).toBe('Error: Could not locate the bindings file. Tried:');
  expect(others.at(-1)).toBe('Node.js v20.20.2');
  expect(tail.text()).not.toMatch(/ at bindings|Could not locate[^]*Could not locate/);
  expect(tail.text().length).toBeLessThanOrEqual(4096);
});

test('stderr is logged without waiting for the end of a line without end', () => {
  const tail = new StderrTail();
  expect(tail.push(Buffer.alloc(5000, 'x'))).toHaveLength(5000);
  expect(tail.end()).toBe('');
});

/** A server that says its pid and reads nothing; enough is sent to it that it is given up. */
async function givenUp(alsoRuns = '') {
  const program = `
    ${alsoRuns}
    setInterval(() => {}, 1000);
    console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/pid', params: { pid: process.pid } }));`;
  const options = { args: ['-e', program], stopMs: 600_000, limits: { maxBufferedBytes: 1_000_000 } };
  const link = createStdioLink({ command: process.execPath, ...options });
  const peer = await started(async () => ({ link, [Symbol.asyncDispose]: () => link.close() }));
  const pid = await saidPid(peer.told);
  const text = 'x'.repeat(2_000_000);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    link.send(call('echo', { text })).catch(() => {}); // it waits in the pipe
    await expect(link.send(call('echo', { text }))).rejects.toMatchObject({ code: 'UPSTREAM_BUSY' });
    vi.advanceTimersByTime(3000);
  } finally {
    vi.useRealTimers();
  }
  return { peer, pid };
}

test('a server that is given up is reported at once, though its process takes its time to end', async () => {
  const { peer, pid } = await givenUp("process.on('SIGTERM', () => {});");
  await using _ = peer;
  await peer.told.until(() => peer.told.closes.length > 0, 'onClose');
  expect(peer.told.closes).toEqual([expect.stringContaining('it does not read its input')]);
  expect(isAlive(pid)).toBe(true);
  process.kill(pid, 'SIGKILL');
  await peer.link.close();
  expect(peer.told.closes).toHaveLength(1);
});

test('a server that does not read gets no time to notice that its input has ended', async () => {
  const { peer, pid } = await givenUp();
  await using _ = peer;
  await untilDead(pid);
});

test('a broken pipe is reported with the exit of the server', async () => {
  const program = `
    require('node:fs').closeSync(0);
    console.log('{"jsonrpc":"2.0","method":"notifications/closed"}');
    setTimeout(() => { console.error('API_KEY is not set'); process.exit(3); }, 100);`;
  const link = createStdioLink({ command: process.execPath, args: ['-e', program] });
  await using peer = await started(async () => ({ link, [Symbol.asyncDispose]: () => link.close() }));
  await peer.told.until(() => peer.told.notes().length > 0, 'its stdin to be closed');
  await expect(peer.link.send(call('echo'))).rejects.toMatchObject({
    code: 'UPSTREAM_CLOSED',
    details: { reason: 'exit code 3; stderr: API_KEY is not set' },
  });
});

test('a link that is closed while it starts leaves nothing running', async () => {
  await using peer = await child('ignores-sigterm', { stopMs: 50 });
  const closes: string[] = [];
  const starting = peer.link.start({ onMessage: () => false, onGarbage: () => {}, onClose: (why) => closes.push(why) });
  await peer.link.close();
  await starting;
  await peer.link.close();
  expect(closes).toHaveLength(1);
});

async function child(name: string, options: Partial<StdioLinkOptions> = {}, args: string[] = []): Promise<LinkPeer> {
  const link = createStdioLink({ command: process.execPath, args: [fixture(name), ...args], ...options });
  return { link, [Symbol.asyncDispose]: () => link.close() };
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}.mjs`, import.meta.url));
}

async function startFails(start: (events: RecordedEvents) => Promise<void>): Promise<unknown> {
  const never = (): never => {
    throw new Error('a link that could not be started tells it by the rejection alone');
  };
  return start({ onMessage: never, onClose: never, onGarbage: never } as unknown as RecordedEvents).then(
    never,
    (error) => error,
  );
}

async function saidPid(told: RecordedEvents): Promise<number> {
  await told.until(() => told.notes().length > 0, 'its pid');
  return Number(told.notes()[0]!.pid);
}

async function untilDead(pid: number): Promise<void> {
  for (const until = Date.now() + 20_000; isAlive(pid); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > until) throw new Error(`process ${pid} still lives`);
  }
}

/** A zombie is dead: who has to reap it is not our affair. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
