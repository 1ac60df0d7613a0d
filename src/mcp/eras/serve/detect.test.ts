import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import type { JsonObject, Message } from '../../../kernel/message.ts';
import { isStatelessMessage, openingOf } from './detect.ts';
import { request } from '../fake-context.contract.ts';
import { META } from '../meta.ts';
import { negotiateRevision } from '../handshake/features.ts';
import { isStateless } from '../revisions.ts';

const modern = { _meta: { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} } };
const judge = (
  method: string,
  params: JsonObject | undefined,
  evidence: { session?: boolean; versionHeader?: string },
) => isStatelessMessage(request(1, method, params), { session: false, ...evidence });

// One row for each kind of message and evidence (docs/eras.md).
describe('the era of a message', () => {
  it.each<[string, boolean, string, JsonObject | undefined, { session?: boolean; versionHeader?: string }]>([
    ['initialize without a modern claim', false, 'initialize', { protocolVersion: '2025-11-25' }, {}],
    [
      'initialize that offers a modern version in its params alone',
      false,
      'initialize',
      { protocolVersion: '2026-07-28' },
      {},
    ],
    ['initialize with a modern envelope', true, 'initialize', modern, {}],
    [
      'initialize with an envelope that names a handshake revision',
      false,
      'initialize',
      { _meta: { [META.protocolVersion]: '2025-11-25' } },
      {},
    ],
    ['a request with a modern envelope', true, 'tools/list', modern, {}],
    ['a request with a modern envelope and header', true, 'tools/list', modern, { versionHeader: '2026-07-28' }],
    [
      'a request that claims a version nobody knows',
      true,
      'tools/list',
      { _meta: { [META.protocolVersion]: '1999-01-01' } },
      {},
    ],
    ['a request of a later version', true, 'tools/list', { _meta: { [META.protocolVersion]: '2027-01-01' } }, {}],
    ['a modern envelope in a live session, as ChatGPT sends it', false, 'tools/call', modern, { session: true }],
    ['the same with its handshake header', false, 'tools/call', modern, { session: true, versionHeader: '2025-11-25' }],
    [
      'a modern envelope under a handshake header, without a session',
      false,
      'tools/call',
      modern,
      { versionHeader: '2025-11-25' },
    ],
    ['a modern header and a body without envelope', true, 'tools/list', {}, { versionHeader: '2026-07-28' }],
    ['a modern header and a body without params', true, 'tools/list', undefined, { versionHeader: '2026-07-28' }],
    ['a header that differs from the envelope', true, 'tools/list', modern, { versionHeader: '2027-01-01' }],
    ['an unknown header under a modern envelope', true, 'tools/list', modern, { versionHeader: 'nonsense' }],
    ['neither header, envelope nor session', false, 'tools/list', {}, {}],
    ['an envelope whose version is not a string', false, 'tools/list', { _meta: { [META.protocolVersion]: 7 } }, {}],
    ['_meta that is not an object', false, 'tools/list', { _meta: 'x' }, {}],
    ['server/discover first', true, 'server/discover', modern, {}],
  ])('%s: stateless %s', (_, expected, method, params, evidence) => {
    expect(judge(method, params, evidence)).toBe(expected);
  });

  it('is handshake for every answer', () => {
    for (const message of [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: null, error: { code: 1, message: '' } },
    ]) {
      expect(isStatelessMessage(message as Message, { session: false, versionHeader: '2026-07-28' })).toBe(false);
    }
  });
});

describe('revisions', () => {
  it('are stateless only for dates from 2026-07-28 on', () => {
    expect(['2026-07-28', '2026-07-29', '2030-01-01'].map(isStateless)).toEqual([true, true, true]);
    const others = ['2026-07-27', '2025-11-25', 'draft', 'DRAFT-2025-v3', 'zzzz', '', '2026-07-28x', '9999'];
    expect(others.some(isStateless)).toBe(false);
  });

  it('are accepted if supported, else answered with the newest dated handshake revision', () => {
    const spoken = ['2024-11-05', '2025-06-18', 'DRAFT-2025-v3', '2026-07-28', 'draft'];
    expect(negotiateRevision('2024-11-05', spoken)).toBe('2024-11-05');
    expect(negotiateRevision('DRAFT-2025-v3', spoken)).toBe('DRAFT-2025-v3');
    for (const offer of ['2025-11-25', '2026-07-28', 'draft', 'x'])
      expect(negotiateRevision(offer, spoken)).toBe('2025-06-18');
    expect(negotiateRevision('2025-11-25', ['2026-07-28', 'draft'])).toBeUndefined();
  });
});

describe('the first message of a client', () => {
  it('says what it can be asked', () => {
    const capabilities = { sampling: {} };
    const opening = (method: string, params?: JsonObject) => openingOf(request(1, method, params));
    expect(opening('initialize', { protocolVersion: '2025-11-25', capabilities })).toEqual({
      ...SPEAKING.handshake,
      capabilities,
    });
    expect(opening('initialize', { protocolVersion: '2025-11-25' })).toEqual({
      ...SPEAKING.handshake,
      capabilities: {},
    });
    expect(opening('server/discover', { _meta: { [META.clientCapabilities]: capabilities } })).toEqual({
      ...SPEAKING.stateless,
      capabilities,
    });
    expect(opening('initialize', { mcpVersion: '1' })).toBeUndefined();
    expect(opening('ping')).toBeUndefined();
    expect(openingOf({ jsonrpc: '2.0', id: 1, result: {} })).toBeUndefined();
  });
});
