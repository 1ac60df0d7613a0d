// `parley flows` beside a running server, whose users play with the official client: in a SQLite file and in Redis.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DESK_FLOWS, Desk, deskPlaces } from '../helpers/flow-desk.ts';
import { Terminal } from '../helpers/terminal.ts';
import { MAIN } from '../helpers/built.ts';
import { until } from '../helpers/until.ts';

const PLACES = deskPlaces();

describe.concurrent.each(Object.keys(PLACES))('beside a server that keeps its sessions in %s', (place) => {
  test('sessions are listed, filtered, shown, answered and cancelled', async () => {
    await using desk = new Desk(PLACES[place]!());
    const server = await desk.serve();
    const paying = await desk.call(server, 'order', ['Bread']);
    const choosing = await desk.call(server, 'order', [], 'grace');
    await desk.call(server, 'launch', [], 'grace');

    const listed = await desk.flows(['ls']);
    expect(listed).toMatchObject({ status: 0, stderr: '' });
    expect(listed.stdout).toMatch(/^ID +FLOW +STATE +AGE +IDLE +ABOUT\n/);
    expect(listed.stdout).toMatch(/order {3}waiting +\d+[sm] +\d+[sm] +ok: Pay for Bread-1\?\n/);
    expect(listed.stdout).not.toContain('\u001B');
    const [pay] = await desk.ids('--flow', 'order', '--principal', 'ada', '--newer', '1d', '--state', 'waiting');
    const [choose, ...rest] = await desk.ids('--flow', 'order', '--principal', 'grace');
    expect(rest).toEqual([]);
    expect(await desk.ids('--older', '1h')).toEqual([]);
    const few = await desk.flows(['ls', '--limit', '1']);
    expect(few).toMatchObject({
      stdout: expect.stringMatching(/^.*\n.*\n$/),
      stderr: expect.stringContaining('1 of 3'),
    });

    const shown = await desk.flows(['show', pay!.slice(0, 16)]);
    expect(shown.stdout).toContain(`order ${pay} is waiting`);
    expect(shown.stdout).toContain('What \\u{1b}[31mdo you want? → "Bread" (the user, by a form)');
    expect(shown.stdout).toMatch(/begin {3}reserve {2}idempotency key \S+, can be undone/);
    expect(shown.stdout).toContain('→ {"room":"Bread-1","token":"(not shown)"}');
    expect(shown.stdout).toContain('asks    ok       Pay for Bread-1? (confirm)');

    expect(await desk.asks(['answer', pay!, 'maybe'])).toMatchObject({
      status: 1,
      stderr: 'parley: Not accepted: ok: Must be true or false.\n',
    });
    expect(await desk.asks(['answer', pay!, 'yes'])).toMatchObject({
      status: 0,
      stdout: 'Done. It asks note now: A note?\n',
    });
    await until('the form to be withdrawn', () => paying.asked.length === 3);
    expect(paying.asked[2]).toBe('The previous question is no longer asked.\nA note?');
    expect(await desk.asks(['answer', pay!, 'none'])).toMatchObject({
      status: 1,
      stderr: 'parley: Not accepted: note: Say something.\n',
    });
    expect(await desk.asks(['answer', pay!, 'quickly'])).toMatchObject({ status: 0, stdout: 'It is completed.\n' });
    expect(JSON.parse(await paying.text())).toEqual({ item: 'Bread', note: 'quickly' });

    await desk.asks(['answer', choose!, 'Milk']);
    const cancelled = await desk.asks(['cancel', choose!, '--reason', 'Wrong shop']);
    expect(cancelled).toMatchObject({ status: 0, stdout: 'It is cancelled (Wrong shop).\n' });
    expect(await choosing.text()).toBe('order was cancelled: Wrong shop');
    expect(desk.ledger).toEqual(['reserve Bread', 'charge Bread', 'reserve Milk', 'release Milk']);
    expect(await desk.ids('--state', 'ended')).toHaveLength(2);
    const over = (await desk.flows(['show', choose!])).stdout;
    expect(over).toMatch(/is cancelled\n(.*\n)*.*reason +Wrong shop/);
    expect(over).toMatch(/journal +\d+ entries without answers/);
    expect(over).toMatch(/answer {2}item +answered \(the user, by a terminal\)\n(.*\n)*.*undone {2}reserve\n/);
    expect(over).not.toContain('Milk');
  });

  test('a parked session is shown with its reason, and goes on after a fix', async () => {
    await using desk = new Desk(PLACES[place]!() && `${PLACES[place]!()}/1`);
    const first = await desk.serve('1');
    await desk.call(first, 'order', ['Bread', true]);
    const [id] = await desk.ids();
    await first.stop();
    const second = await desk.serve('2');
    const refused = await desk.asks(['answer', id!, 'quickly']);
    const reason = 'the effect charge has begun, but is no longer called, and charge-card would be done instead';
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(reason) });
    expect(refused.stderr).toContain('The answer is kept');
    const parked = await desk.flows(['ls', '--state', 'parked']);
    expect(parked.stdout).toContain('parked');
    expect((await desk.flows(['show', id!])).stdout).toContain(
      `parked     order has changed under an open session: ${reason}`,
    );
    expect((await desk.flows(['show', id!])).stdout).toMatch(
      /handed +over by \S+; kept until `retry`, as it is parked/,
    );
    expect(await desk.asks(['retry', id!])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('It is parked'),
    });
    await second.stop();
    await desk.serve('1');
    expect(await desk.asks(['retry', id!])).toMatchObject({ status: 0, stdout: 'It is completed.\n' });
    expect(desk.ledger).toEqual(['reserve Bread', 'charge Bread']);
  });
});

describe('without a server', () => {
  test('what is asked for waits in the store, or is done here by the code', async () => {
    await using desk = new Desk();
    const server = await desk.serve();
    await desk.call(server, 'order', ['Bread']);
    const [id] = await desk.ids();
    await server.stop();
    const waiting = await desk.flows(['answer', id!, 'no', '--wait', '1']);
    expect(waiting).toMatchObject({ status: 1, stderr: expect.stringContaining('No server has taken it yet') });
    expect((await desk.flows(['show', id!])).stdout).toMatch(/handed +over by \S+; no server has taken it yet/);
    expect((await desk.flows(['show', id!])).stdout).toContain('wakes up   as soon as a server of the flow runs');
    const other = desk.home.write('other.mjs', 'export const a = 1;');
    const none = await desk.flows(['answer', id!, 'yes', '--code', other]);
    expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('exports no flow order') });
    const here = await desk.flows(['answer', id!, 'yes', '--code', DESK_FLOWS]);
    expect(here).toMatchObject({ status: 0, stdout: 'Done. It asks note now: A note?\n' });
    const cancelled = await desk.flows(['cancel', id!, '--code', DESK_FLOWS]);
    expect(cancelled).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^It is cancelled \(Cancelled by \S+\)\.\n$/),
    });
    expect(desk.ledger).toEqual(['reserve Bread', 'charge Bread', 'release Bread']);
  });

  test('a session with secrets continues only with the key', async () => {
    await using desk = new Desk(undefined, { SEAL_KEY: 'the key of the server' });
    const code = desk.home.write(
      'code.mjs',
      `import { createSqliteStore } from 'mcp-parley/flow';
export * from ${JSON.stringify(DESK_FLOWS)};
const store = await createSqliteStore({ path: ${JSON.stringify(desk.store.slice('sqlite:'.length))} });
export const options = { store, keys: [process.env.SEAL_KEY] };
`,
    );
    const { serving, id } = await signedIn(desk);
    expect((await desk.flows(['show', id])).stdout).toContain('Password? → "(secret)"');
    expect((await desk.flows(['show', id, '--json'])).stdout).not.toMatch(/\$secret|hunter2|"seed"/);
    await serving.stop();
    const shut = await desk.flows(['answer', id, 'x', '--code', DESK_FLOWS]);
    expect(shut).toMatchObject({ status: 1, stderr: expect.stringContaining('the secret password cannot be opened') });
    const wrong = await desk.flows(['answer', id, 'x', '--code', DESK_FLOWS, '--seal-key', 'LEDGER']);
    expect(wrong.stderr).toContain('cannot be opened with these keys');
    const { status, stdout } = await desk.home.run(['flows', 'answer', id, 'x', '--code', code], '', {
      LEDGER: 'x',
      SEAL_KEY: 'the key of the server',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'It is completed.\n' });
    expect((await desk.flows(['show', id])).stdout).toMatch(/journal +sealed; --seal-key NAME opens it/);
    const opened = await desk.flows(['show', id, '--seal-key', 'SEAL_KEY']);
    expect(opened.stdout).toContain('Name? → "Ada"');
    expect(opened.stdout).toContain('Password? → "(secret)"');
  });
});

/** Signed in over MCP Flow, since a form of the client is not asked for a secret. */
async function signedIn(desk: Desk) {
  const { socketWire } = await import('../helpers/line-wire.ts');
  const serving = await desk.serve();
  const { wire, socket } = await socketWire(serving.port, { 'x-user': 'ada' });
  await wire.initialize();
  const { result } = await wire.request('interaction.start', { toolName: 'login' });
  const id = String(result!['sessionId']);
  for (const [promptId, value] of [
    ['name~1', 'Ada'],
    ['password~1', 'hunter2'],
  ]) {
    await wire.request('interaction.respond', { sessionId: id, promptId, response: { value } });
  }
  await until('the next question', async () => (await desk.flows(['show', id])).stdout.includes('More, Ada?'));
  socket.terminate();
  return { serving, id };
}

describe('says what is wrong', () => {
  test('with ids, stores and keys', async () => {
    await using desk = new Desk(undefined, { FILE_KEY: 'a key of some length' });
    const { home } = desk;
    const missing = await desk.flows(['ls']);
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('flows.db does not exist') });
    expect(existsSync(desk.store.slice('sqlite:'.length))).toBe(false);
    const server = await desk.serve();
    const key = ['--file-key', 'FILE_KEY'];
    expect(await desk.flows(['ls', ...key])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'There are no sessions in this store.\n',
    });
    await desk.call(server, 'order');
    await desk.call(server, 'order');
    expect(await desk.flows(['ls'])).toMatchObject({ status: 1, stderr: expect.stringContaining('give its key') });
    const wrong = await desk.flows(['ls', ...key], { FILE_KEY: 'another key of some length' });
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('does not open with this key') });
    const unset = await desk.flows(['ls', '--file-key', 'NOT_SET']);
    expect(unset).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('NOT_SET, which should have a key, is not set'),
    });
    expect(await desk.flows(['show', 'nobody', ...key])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no session has the id nobody'),
    });
    expect(await desk.flows(['show', 'session_', ...key])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the beginning of several ids: session_'),
    });
    const named = { mcpServers: { x: 'http://127.0.0.1:1/mcp' }, flows: { store: desk.store, fileKey: '${FILE_KEY}' } };
    const config = home.write('flows.jsonc', named);
    const found = await home.run(['flows', 'ls', '--config', config], '', { FILE_KEY: 'a key of some length' });
    expect(found).toMatchObject({ status: 0, stdout: expect.stringContaining('order') });
    const unnamed = home.write('other.jsonc', { mcpServers: named.mcpServers });
    const without = await home.run(['flows', 'ls', '--config', unnamed]);
    expect(without).toMatchObject({ status: 1, stderr: expect.stringContaining('has no "flows"') });
    const none = await home.run(['flows', 'ls']);
    expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('no store was named') });
    const odd = await home.run(['flows', 'ls', '--store', 'mysql://root:pass@x']);
    expect(odd).toMatchObject({ status: 1, stderr: expect.stringContaining('write sqlite:FILE') });
    expect(odd.stderr).not.toContain('pass');
    const away = await home.run(['flows', 'ls', '--store', 'redis://127.0.0.1:1']);
    expect(away).toMatchObject({ status: 1, stderr: expect.stringContaining('does not answer') });
  });

  test('if a question is for another person, unless that person is named', async () => {
    await using desk = new Desk();
    const asker = await desk.call(await desk.serve(), 'release');
    const [id] = await desk.ids();
    expect((await desk.flows(['ls'])).stdout).toContain('note: What is new?; approve: Ship it? (waits for boss)');
    expect((await desk.flows(['show', id!])).stdout).toMatch(/asks +approve +Ship it\? \(waits for boss, confirm\)/);
    expect(JSON.parse((await desk.flows(['show', id!, '--json'])).stdout)).toMatchObject({
      questions: [{ key: 'note' }, { key: 'approve', person: 'boss' }],
    });
    for (const named of [[], ['--principal', 'ada']]) {
      const refused = await desk.flows(['answer', id!, '--arg', 'approve=yes', ...named]);
      expect(refused).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('approve is for boss to answer. To answer for them: --principal boss'),
      });
    }
    const answered = await desk.asks(['answer', id!, '--arg', 'approve=yes', '--principal', 'boss']);
    expect(answered).toMatchObject({ status: 0, stdout: 'Done. It asks note now: What is new?\n' });
    expect((await desk.flows(['show', id!])).stdout).toMatch(/Ship it\? → true \(operator \S+, by a terminal\)/);
    expect(await desk.asks(['answer', id!, 'all'])).toMatchObject({ status: 0, stdout: 'It is completed.\n' });
    expect(await asker.text()).toBe('Shipped: all');
  });

  test('where only a person may answer, and not a command line', async () => {
    await using desk = new Desk();
    const asker = await desk.call(await desk.serve(), 'launch');
    const [id] = await desk.ids();
    const refused = await desk.flows(['answer', id!, 'yes']);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('must be answered by a person') });
    expect(await desk.flows(['answer', id!])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('nobody can type here'),
    });
    const { PATH } = process.env;
    const line = `${process.execPath} ${MAIN} flows answer ${id} --store ${desk.store}`;
    await using terminal = new Terminal(line, { PATH, HOME: desk.folder });
    await terminal.sees('Launch it?');
    await terminal.types('y', 'It is completed');
    expect(await terminal.status()).toBe(0);
    expect(await asker.text()).toBe('Launched');
  });
});
