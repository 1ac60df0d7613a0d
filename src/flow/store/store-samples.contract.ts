// Sessions and entries for the suites of the stores.
import { randomId } from '../../kernel/crypto/ids.ts';
import type { AnswerEntry, Header, StartEntry } from '../journal.ts';
import type { SessionLimits } from './store.ts';

export const MANY: SessionLimits = { perPrincipal: 1_000_000, total: 1_000_000 };

export const ended = ['completed', 'cancelled', 'error'] as const;

export const start: StartEntry = { t: 'start', input: { city: 'Paris' }, seed: 'seed', ts: 1_700_000_000_000 };

export function header(over: Partial<Header> = {}): Header {
  const now = Date.now();
  return {
    id: randomId('session_'),
    tool: 'book',
    version: '1',
    principal: 'principal',
    state: 'idle',
    rev: 1,
    createdAt: now,
    lastActivityAt: now,
    expiresAt: now + 300_000,
    timeoutMs: 300_000,
    deadline: now + 3_600_000,
    rounds: 0,
    prompts: 0,
    attempts: 0,
    via: 'flow',
    current: [],
    ...over,
  };
}

export function answer(k: string, v: unknown): AnswerEntry {
  return { t: 'ans', k, a: 1, ty: 'text', v, src: 'human', via: 'flow', ts: 1_700_000_000_001 };
}
