// approve where it belongs: a client of each era that can be asked, several servers behind a router.
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../sdk/client/connect.ts';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../gateway.ts';
import type { Gateway } from '../../gateway.ts';
import { approve } from './approve.ts';
import { filter } from '../filter/filter.ts';
import { prefix, rename } from '../names/rename.ts';
import { retry } from '../retry/retry.ts';
import { timeout } from '../timeout/timeout.ts';

const log = createLog({ level: 'silent' });
const input = { type: 'object', properties: { path: { type: 'string' } } };

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'])('approve, for a client of %s', (revision) => {
  it('shows what is called, and calls it after the yes alone', async () => {
    const done: unknown[] = [];
    const server = (name: string) => {
      const made = createServer({ name, version: '1', log });
      made.tool('remove', { input }, ({ path }) => (done.push(`${name} ${String(path)}`), 'removed'));
      made.tool('look', { annotations: { readOnlyHint: true } }, () => 'seen');
      return made;
    };
    const steps = [prefix('x_'), approve(), retry(), timeout()];
    const gateway = createGateway({ servers: { one: server('one'), two: server('two') }, steps, log });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await gateway.connect(theirs);
    const asked: string[] = [];
    let answer: boolean | undefined = false;
    const onElicit = ({ message }: { message: string }) => {
      asked.push(message);
      return answer === undefined
        ? { action: 'decline' as const }
        : { action: 'accept' as const, content: { approve: answer } };
    };
    const client = await connect(ours, { revision, log, onElicit });
    const call = async (name: string, given = {}) => (await client.callTool(name, given)) as { isError?: boolean };

    expect(await call('x_one__look')).not.toHaveProperty('isError', true);
    expect(await call('x_two__remove', { path: '/a' })).toMatchObject({ isError: true });
    answer = undefined;
    expect(await call('x_one__remove', { path: '/b' })).toMatchObject({ isError: true });
    answer = true;
    expect(await call('x_two__remove', { path: '/c' })).toMatchObject({ content: [{ text: 'removed' }] });
    expect(asked).toEqual([
      'Call two__remove of two?\n\npath: "/a"',
      'Call one__remove of one?\n\npath: "/b"',
      'Call two__remove of two?\n\npath: "/c"',
    ]);
    expect(done).toEqual(['two /c']);
    await client.close();
    await gateway.close();
  });
});

it('judges the tool behind a changed name, also before any list was asked for', async () => {
  const done: string[] = [];
  const server = (name: string) => {
    const made = createServer({ name, version: '1', log });
    made.tool('remove', {}, () => (done.push(name), 'removed'));
    return made;
  };
  const steps = [approve({ when: { deny: ['remove'], ask: ['nothing'] } }), rename({ tools: { remove: 'tidy' } })];
  const gateway = createGateway({ servers: { one: server('one'), two: server('two') }, steps, log });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await gateway.connect(theirs);
  const client = await connect(ours, { revision: '2025-11-25', log });
  expect(await client.callTool('one__tidy')).toMatchObject({ isError: true });
  expect(done).toEqual([]);
  await client.close();
  await gateway.close();
});

describe.each(['2025-11-25', '2026-07-28'])('approve, while the rules change, for a client of %s', (revision) => {
  /** Changes the gateway while the user is asked, and then says yes. */
  async function approved(change: (gateway: Gateway, server: ReturnType<typeof createServer>) => void) {
    const done: unknown[] = [];
    const server = createServer({ name: 'one', version: '1', log });
    server.tool('remove', { input }, ({ path }) => (done.push(path), 'removed'));
    const gateway = createGateway({ servers: { one: server }, steps: [prefix('x_'), retry(), approve()], log });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await gateway.connect(theirs);
    const asked: string[] = [];
    const onElicit = ({ message }: { message: string }) => {
      asked.push(message);
      if (asked.length === 1) change(gateway, server);
      return { action: 'accept' as const, content: { approve: true } };
    };
    const client = await connect(ours, { revision, log, onElicit });
    const result = await client.callTool('x_remove', { path: '/a' }).catch((error: unknown) => error);
    await client.close();
    await gateway.close();
    return { result, done, asked: asked.length };
  }

  it('a call that is denied by then is not made', async () => {
    const deny = filter({ tools: { deny: ['remove'] } });
    for (const steps of [
      [prefix('x_'), deny],
      [prefix('x_'), approve({ when: { deny: ['remove'] } })],
    ]) {
      const { result, done, asked } = await approved((gateway) => gateway.update({ steps }));
      expect({ done, asked }).toEqual({ done: [], asked: 1 });
      expect(result instanceof Error ? result.message : JSON.stringify(result)).toMatch(
        /Unknown tool: x_remove|forbids it/,
      );
    }
    const ruled = await approved((gateway, server) =>
      gateway.update({ servers: { one: { server, tools: { deny: ['remove'] } } } }),
    );
    expect(ruled.done).toEqual([]);
  });

  it('a call that is still allowed is made once, and asked about once', async () => {
    for (const steps of [
      [prefix('x_'), approve()],
      [prefix('x_'), retry()],
    ]) {
      const { result, done, asked } = await approved((gateway) => gateway.update({ steps }));
      expect(result).toMatchObject({ content: [{ text: 'removed' }] });
      expect({ done, asked }).toEqual({ done: ['/a'], asked: 1 });
    }
  });
});
