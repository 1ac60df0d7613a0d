import { describe, expect, test } from 'vitest';
import { revisionNamed } from '../revisions.ts';
import { SPEAKING } from '../fake-views.contract.ts';
import { ProtocolError } from '../../../kernel/base/errors.ts';
import type { RecordedCall } from '../fake-wire.contract.ts';
import { FakeWire, fakeEvents } from '../fake-wire.contract.ts';
import { initializeServer } from './initialize-server.ts';
import type { ServerDialect } from './server-dialect.ts';

const capabilities = { roots: { listChanged: true }, sampling: { tools: {} }, elicitation: { form: {}, url: {} } };

async function open(answer: (call: RecordedCall) => unknown, revision?: string) {
  const wire = new FakeWire(answer);
  const adopted: { dialect: ServerDialect; toldBefore: number }[] = [];
  const intro = { info: { name: 'me', version: '1' }, capabilities, revision };
  const opened = initializeServer(wire, intro, fakeEvents(), (dialect) =>
    adopted.push({ dialect, toldBefore: wire.notified.length }),
  );
  return { wire, adopted, opened };
}

const result = (protocolVersion: unknown) => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'srv', version: '2' },
});
const draftResult = { server: { name: 'drafty', version: '0' }, serverCapabilities: { supportsToolDiscovery: true } };
const isDraft = ({ params }: RecordedCall) => params?.mcpVersion !== undefined;

describe('the handshake', () => {
  test('offers the newest revision and everything we can be asked', async () => {
    const { wire, opened } = await open(() => result('2025-11-25'));
    await opened;
    expect(wire.calls[0]).toMatchObject({
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'me', version: '1' } },
    });
    expect(wire.notified).toEqual([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
  });

  test('hands over the dialect before it sends initialized', async () => {
    const { adopted, opened } = await open(() => result('2025-11-25'));
    const { dialect } = await opened;
    expect(adopted).toEqual([{ dialect, toldBefore: 0 }]);
  });

  test.each([
    ['2024-11-05', {}],
    ['2025-03-26', {}],
    ['2025-06-18', { 'mcp-protocol-version': '2025-06-18' }],
    ['2025-11-25', { 'mcp-protocol-version': '2025-11-25' }],
  ])('accepts a counter-offer of %s, with the header of that revision', async (version, headers) => {
    const { opened } = await open(() => result(version));
    expect(await opened).toMatchObject({
      headers,
      dialect: { server: { ...SPEAKING.handshake, era: revisionNamed(version)!.era, revision: version } },
    });
  });

  test.each(['2023-01-01', '2026-07-28', undefined, 5])(
    'refuses %s, and never says that it is ready',
    async (version) => {
      const { wire, adopted, opened } = await open(() => result(version));
      await expect(opened).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
      expect([wire.notified, adopted]).toEqual([[], []]);
    },
  );

  test('offers a pinned revision and refuses any other', async () => {
    const same = await open(() => result('2025-03-26'), '2025-03-26');
    expect((await same.opened).dialect.server.revision).toBe('2025-03-26');
    expect(same.wire.calls[0]?.params?.protocolVersion).toBe('2025-03-26');
    const other = await open(() => result('2024-11-05'), '2025-03-26');
    await expect(other.opened).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
    expect(other.wire.notified).toEqual([]);
  });

  test('declares only what the pinned revision has', async () => {
    const { wire, opened } = await open(() => result('2025-03-26'), '2025-03-26');
    await opened;
    expect(wire.calls[0]?.params?.capabilities).toEqual({ roots: { listChanged: true }, sampling: {} });
    const june = await open(() => result('2025-06-18'), '2025-06-18');
    await june.opened;
    expect(june.wire.calls[0]?.params?.capabilities).toMatchObject({ sampling: {}, elicitation: {} });
  });

  test('tolerates missing fields', async () => {
    const { opened } = await open(() => ({ protocolVersion: '2025-11-25', capabilities: null, serverInfo: 'me' }));
    expect((await opened).dialect.server).toMatchObject({ capabilities: {}, info: { name: 'unknown' } });
  });
});

describe('the draft dialect', () => {
  test('is tried when a server refuses the official opening', async () => {
    const { wire, opened } = await open((call) => {
      if (isDraft(call)) return draftResult;
      throw new ProtocolError(-32602, 'mcpVersion is required');
    });
    expect((await opened).dialect.server).toMatchObject({
      ...SPEAKING.draft,
      info: { name: 'drafty' },
      capabilities: { tools: { listChanged: true } },
    });
    expect(wire.notified).toEqual([{ jsonrpc: '2.0', method: 'initialized', params: {} }]);
  });

  test('is recognised by a draft answer to the official opening', async () => {
    const { wire, opened } = await open(() => draftResult);
    expect((await opened).dialect.server.dialect).toBe('draft');
    expect(wire.calls).toHaveLength(1);
  });

  test.each([-32022, -32020])('is not tried after %i, which only servers of the newer era know', async (code) => {
    const refusal = new ProtocolError(code, 'No', { supported: ['2026-07-28'] });
    const { wire, opened } = await open(() => {
      throw refusal;
    });
    await expect(opened).rejects.toBe(refusal);
    expect(wire.calls).toHaveLength(1);
  });

  test('that fails too leaves the first error standing', async () => {
    const first = new ProtocolError(-32602, 'first');
    const { opened } = await open((call) => {
      if (isDraft(call)) throw new ProtocolError(-32601, 'second');
      throw first;
    });
    await expect(opened).rejects.toBe(first);
  });

  test('is not tried for a pinned revision, and is the only one tried if pinned', async () => {
    const pinned = await open(() => {
      throw new ProtocolError(-32602, 'no');
    }, '2025-11-25');
    await expect(pinned.opened).rejects.toMatchObject({ code: -32602 });
    expect(pinned.wire.calls).toHaveLength(1);
    const draft = await open(() => draftResult, 'draft');
    expect((await draft.opened).dialect.server.dialect).toBe('draft');
    expect(draft.wire.calls.map(isDraft)).toEqual([true]);
    const official = await open(() => result('2025-11-25'), 'draft');
    await expect(official.opened).rejects.toMatchObject({ code: 'NO_COMMON_VERSION' });
  });
});
