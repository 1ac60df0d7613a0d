// What is evidence for an era, and what is not (docs/eras.md).
import { describe, expect, test } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { discoverServer } from './discover-server.ts';
import { FakeWire, fakeEvents } from '../fake-wire.contract.ts';
import { META } from '../meta.ts';

const identity = { info: { name: 'me', version: '1' }, capabilities: { roots: {} } };
const NEW = '2026-07-28';

function probe(...answers: unknown[]) {
  const wire = new FakeWire(
    () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    { http: true },
  );
  return { wire, verdict: discoverServer(wire, identity, fakeEvents(), { timeoutMs: 50 }) };
}

const refused = (status: number) => new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'HTTP', status });
const unsupported = (data?: unknown) => new ProtocolError(-32022, 'Unsupported protocol version', data);

describe('the discover request', () => {
  test('names the client in the body and the headers, and is not cancelled with a message', async () => {
    const { wire, verdict } = probe({ supportedVersions: [NEW] });
    await verdict;
    expect(wire.calls[0]).toMatchObject({
      method: 'server/discover',
      timeoutMs: 50,
      params: {
        _meta: {
          [META.protocolVersion]: NEW,
          [META.clientInfo]: identity.info,
          [META.clientCapabilities]: identity.capabilities,
        },
      },
      headers: { 'mcp-protocol-version': NEW, 'mcp-method': 'server/discover' },
    });
    expect(wire.calls[0]?.cancelNotice(1, { reason: 'late' })).toBeUndefined();
  });

  test('has no headers without HTTP', async () => {
    const wire = new FakeWire(() => ({ supportedVersions: [NEW] }));
    await discoverServer(wire, identity, fakeEvents());
    expect(wire.calls[0]?.headers).toBeUndefined();
  });
});

describe('the stateless era', () => {
  test('is recognised by a result with our version', async () => {
    const dialect = await probe({
      supportedVersions: ['2099-01-01', NEW],
      capabilities: { tools: {} },
      instructions: 'Be kind',
      ttlMs: 5,
      acme: 1,
      _meta: { [META.serverInfo]: { name: 'srv', version: '2' }, own: 2 },
    }).verdict;
    expect(dialect?.server).toEqual({
      ...SPEAKING.stateless,
      revision: NEW,
      info: { name: 'srv', version: '2' },
      capabilities: { tools: {} },
      instructions: 'Be kind',
      greeting: { acme: 1, _meta: { own: 2 } },
    });
  });

  test('needs nothing in the result but the versions', async () => {
    const dialect = await probe({ supportedVersions: [NEW], capabilities: 'all', instructions: 5 }).verdict;
    expect(dialect?.server).toMatchObject({ info: { name: 'unknown' }, capabilities: {}, instructions: undefined });
  });

  test('is asked again if -32022 lists our version', async () => {
    const { wire, verdict } = probe(unsupported({ supported: [NEW] }), { supportedVersions: [NEW] });
    expect((await verdict)?.server.revision).toBe(NEW);
    expect(wire.methods).toEqual(['server/discover', 'server/discover']);
  });

  test('is not abandoned for a handshake after it listed our version', async () => {
    const again = unsupported({ supported: [NEW] });
    await expect(probe(again, again).verdict).rejects.toBe(again);
  });

  test('without a common version is an error that names the offered ones', async () => {
    await expect(probe(unsupported({ supported: ['2099-01-01'] })).verdict).rejects.toMatchObject({
      code: 'NO_COMMON_VERSION',
      message: 'fake and Parley have no revision in common: it offers 2099-01-01',
    });
  });
});

describe('another era', () => {
  test.each([
    ['a success without versions', {}],
    ['a success whose versions are not a list', { supportedVersions: NEW }],
    ['a success without a common version', { supportedVersions: ['2025-11-25'] }],
    ['a success that is not an object', [NEW]],
    ['null', null],
    ['method not found', new ProtocolError(-32601, 'Method not found')],
    ['not initialized', new ProtocolError(-32000, 'Server not initialized')],
    ['invalid params', new ProtocolError(-32602, 'Invalid')],
    ['-32020, which proves nothing', new ProtocolError(-32020, 'Header mismatch')],
    ['-32022 without data', unsupported()],
    ['-32022 with data of another shape', unsupported({ supported: NEW })],
    ['-32022 with an empty list', unsupported({ supported: [] })],
    ['-32022 that names handshake revisions only', unsupported({ supported: ['2025-06-18', '2025-11-25'] })],
    ['HTTP 400', refused(400)],
    ['HTTP 404', refused(404)],
    ['HTTP 405', refused(405)],
    ['HTTP 406', refused(406)],
    ['HTTP 415', refused(415)],
    ['HTTP 422', refused(422)],
    ['a page instead of an answer', new GatewayError('UPSTREAM_INVALID', { server: 'x', reason: 'text/html' })],
  ])('is %s', async (_, answer) => {
    const { wire, verdict } = probe(answer);
    expect(await verdict).toBeUndefined();
    expect(wire.calls).toHaveLength(1);
  });
});

describe('no evidence', () => {
  test.each([
    ['401', new GatewayError('UPSTREAM_UNAUTHORIZED', { server: 'x', status: 401 })],
    ['403', new GatewayError('UPSTREAM_UNAUTHORIZED', { server: 'x', status: 403 })],
    ['408', refused(408)],
    ['429', new GatewayError('UPSTREAM_BUSY', { server: 'x', reason: 'HTTP 429', status: 429 })],
    ['500', refused(500)],
    ['502', refused(502)],
    ['503', refused(503)],
    ['a time-out', new GatewayError('UPSTREAM_TIMEOUT', { server: 'x', method: 'm', ms: 1, why: '' })],
    ['a connection that closed', new GatewayError('UPSTREAM_CLOSED', { server: 'x', reason: 'y' })],
    ['a network that failed', new GatewayError('UPSTREAM_UNREACHABLE', { server: 'x', reason: 'ECONNREFUSED' })],
    ['a defect of ours', new TypeError('oops')],
  ])('is %s, which is thrown unchanged', async (_, error) => {
    await expect(probe(error).verdict).rejects.toBe(error);
  });
});
