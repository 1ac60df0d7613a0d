// A call that the console repeats: through the rules and the audit log as any other, and without a yes only where the tool is believed to only read.
import { expect, it } from 'vitest';
import { createLog } from '../../../../kernel/base/log.ts';
import type { AuditEvent } from '../../../../kernel/audit.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import { createServer } from '../../../../sdk/server/create-server.ts';
import { Paired, clientOf, start } from '../paired-browser.contract.ts';
import type { CallsView } from '../views.ts';

const log = createLog({ level: 'silent' });

async function served({ trustAnnotations = true } = {}) {
  const ran: unknown[] = [];
  const events: AuditEvent[] = [];
  const disk = createServer({ name: 'disk', version: '1', log });
  disk.tool('read', { annotations: { readOnlyHint: true } }, (args) => (ran.push(args), 'text'));
  disk.tool('wipe', { annotations: { destructiveHint: true } }, (args) => (ran.push(args), 'wiped'));
  const found = await start({
    servers: { disk: { server: disk, trustAnnotations } },
    steps: [],
    rules: [{ tool: 'read', when: 'has(args.secret)', effect: 'deny' }],
    audit: (event) => void events.push(event),
  });
  const operator = new Paired(found.root);
  await operator.enter(found.gateway);
  const stream = await operator.read('events'); // somebody looks
  const client = await clientOf(found.url);
  /** Calls, and repeats what the console has kept of it. */
  const repeat = async (tool: string, args: object, fields: Record<string, string> = {}) => {
    await client.callTool(tool, { ...args });
    const { rows } = (await (await operator.read('calls')).json()) as CallsView;
    const { id } = rows.findLast(({ isTool, client: by }) => isTool && by !== 'parley-console')!;
    ran.length = 0;
    const response = await operator.post('repeat', { id, ...fields });
    return { status: response.status, text: await response.text() };
  };
  return { ...found, ran, events, operator, repeat, end: () => stream.body!.cancel() };
}

it('a call of a tool that only reads is repeated with its arguments, and is recorded as a call', async () => {
  const { repeat, ran, operator, events, end } = await served();
  expect(await repeat('read', { path: 'a\u202eb', n: 1 })).toMatchObject({ status: 200 });
  expect(ran).toEqual([{ path: 'a\u202eb', n: 1 }]);
  const { rows } = (await (await operator.read('calls')).json()) as CallsView;
  expect(rows.at(-1)).toMatchObject({ client: 'parley-console', name: 'read', server: 'disk', outcome: 'ok' });
  expect(events.findLast(({ kind }) => kind === 'call')).toMatchObject({
    principal: 'local',
    server: 'disk',
    name: 'read',
  });
  await end();
});

it('a tool that may change something, or whose server is not believed, is repeated after a yes only', async () => {
  const { repeat, ran, end } = await served();
  expect(await repeat('wipe', { what: 'all' })).toMatchObject({ status: 428 });
  expect(ran).toEqual([]);
  expect(await repeat('wipe', { what: 'all' }, { confirmed: 'yes' })).toMatchObject({ status: 200 });
  expect(ran).toEqual([{ what: 'all' }]);
  await end();
  const other = await served({ trustAnnotations: false });
  expect(await other.repeat('read', { path: 'a' })).toMatchObject({ status: 428 });
  expect(other.ran).toEqual([]);
  await other.end();
});

it('rules judge a repeated call, and one whose secrets were not kept is not repeated', async () => {
  const { repeat, ran, end } = await served();
  secrets.add('hunter2hunter2');
  const refused = await repeat('read', { path: 'hunter2hunter2' });
  secrets.clear();
  expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('secret') as string });
  await repeat('read', { secret: 1 }, { confirmed: 'yes' });
  expect(ran).toEqual([]);
  expect(await repeat('read', { path: 'a' }, { id: '999' })).toMatchObject({ status: 404 });
  await end();
});
