import { describe, expect, it } from 'vitest';
import { META } from '../meta.ts';
import { STATELESS } from './revisions.ts';
import { readEnvelope } from './envelope.ts';

function frozenMeta(more: Record<string, unknown> = {}) {
  return Object.freeze({
    [META.protocolVersion]: STATELESS,
    [META.clientInfo]: { name: 'c', version: '1' },
    [META.clientCapabilities]: {},
    ...more,
  });
}

describe('the envelope of a client that repeats the same description', () => {
  it('is read once, and checked again by a gateway that speaks other revisions', () => {
    const _meta = frozenMeta();
    const spoken = [STATELESS];
    const first = readEnvelope({ params: { _meta } }, spoken);

    expect(readEnvelope({ params: { _meta } }, spoken)).toBe(first);
    expect(() => readEnvelope({ params: { _meta } }, [])).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }),
    );
  });

  it('is refused each time if it is malformed', () => {
    const _meta = frozenMeta({ [META.clientInfo]: 'c' });
    const read = () => readEnvelope({ params: { _meta } }, [STATELESS]);

    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }));
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }));
  });

  it('is read again when its description may have changed meanwhile', () => {
    const _meta: Record<string, unknown> = { ...frozenMeta() };
    readEnvelope({ params: { _meta } }, [STATELESS]);
    _meta[META.clientInfo] = { name: 'other', version: '2' };

    expect(readEnvelope({ params: { _meta } }, [STATELESS]).info.name).toBe('other');
  });
});
