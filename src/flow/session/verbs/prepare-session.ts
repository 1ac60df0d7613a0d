// Prepares a new session: its header, and the first entries of its journal.
import { toDurationMs } from '../../define.ts';
import type { AnyFlow } from '../../define.ts';
import { awaitAuthor } from '../../engine/author-code.ts';
import { withFlowName } from '../../engine/misuse.ts';
import type { FoundQuestion } from '../../explore/exploration.ts';
import { createHeader } from '../../journal.ts';
import type { JournalEntry, Header } from '../../journal.ts';
import { toReason } from '../../../kernel/json-schema.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { storeArgs, findUnknownArgs, toPrefilled } from '../values/stored-args.ts';
import type { StoredArgs } from '../values/stored-args.ts';
import { rejectHostileValue } from './receive-answers.ts';
import type { StartRequest } from '../context/requests.ts';
import { toOwner, toStoredShare } from '../../header.ts';
import { toStartFingerprint, toStartedSessionId } from '../../session-id.ts';
import type { SessionContext } from '../context/session-context.ts';

const MIN_TIMEOUT_MS = 50;

export async function prepareSession(
  context: SessionContext,
  flow: AnyFlow,
  { request, questions }: { request: StartRequest; questions: readonly FoundQuestion[] },
): Promise<{ header: Header; entries: JournalEntry[] }> {
  const now = context.clock.now();
  const { startId, sessionId = context.newId(), principal, tool, args } = request;
  const id = startId === undefined ? sessionId : toStartedSessionId(principal, startId);
  const header = toHeader(context, flow, { id, now, request });
  if (startId !== undefined || request.sessionId !== undefined) header.started = toStartFingerprint(tool, args);
  if (context.lasting && request.share !== undefined) {
    header.share = toStoredShare(principal, request.share, context.store.salt);
  }
  const given = await toGiven(context, flow, { header, request, questions });
  rejectHostileValue(request.context, header.id, context.limits);
  const input = await toInput(flow, given.args);
  const held = findUnknownArgs(flow, given, questions);
  const start: JournalEntry = {
    t: 'start',
    input,
    seed: context.newSeed(),
    ts: now,
    ...(held.length > 0 && { held }),
    ...(request.context !== undefined && { context: request.context }),
    ...(request.client && { client: request.client }),
  };
  // In the order in which they will be loaded, because the order matters.
  const named = Object.entries(given.args).sort(([a], [b]) => Number(held.includes(b)) - Number(held.includes(a)));
  const prefilled = toPrefilled(Object.fromEntries(named), now, given.files);
  return { header, entries: [start, ...prefilled] };
}

/** Checks each argument first, because a file may be larger than the limit for all. */
async function toGiven(
  context: SessionContext,
  flow: AnyFlow,
  { header, request, questions }: { header: Header; request: StartRequest; questions: readonly FoundQuestion[] },
): Promise<StoredArgs> {
  const { args = {}, locale } = request;
  for (const value of Object.values(args)) rejectHostileValue(value, header.id, context.limits);
  const localization = { catalogue: flow.options.messages, locale };
  const given = await storeArgs(context, args, { session: header, questions, localization });
  rejectHostileValue(given.args, header.id, context.limits);
  return given;
}

async function toInput(flow: AnyFlow, args: Record<string, unknown>): Promise<unknown> {
  const { input } = flow;
  const verdict = input && (await toVerdict(flow, () => input.check(args)));
  if (!verdict?.problems) return verdict ? verdict.value : args;
  const [first] = verdict.problems;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { parameter: first?.path, reason: toReason(verdict.problems) });
}

/** The author's own schema may throw; then nothing has begun yet. */
async function toVerdict<T>({ name }: AnyFlow, check: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await awaitAuthor('its input schema', check);
  } catch (error) {
    throw withFlowName(error, name);
  }
}

function toHeader(
  context: SessionContext,
  flow: AnyFlow,
  begin: { id: string; now: number; request: StartRequest },
): Header {
  const { limits } = context;
  const { id, now, request } = begin;
  const wanted = request.timeoutMs ?? flow.timeoutMs ?? limits.timeoutMs;
  const timeoutMs = Math.min(Math.max(wanted, MIN_TIMEOUT_MS), limits.maxTimeoutMs);
  const deadline = now + toDurationMs(flow, limits);
  return createHeader({
    id,
    tool: flow.name,
    version: flow.version,
    principal: toOwner(request.principal, context.store.salt),
    state: 'active',
    rev: 0,
    createdAt: now,
    lastActivityAt: now,
    expiresAt: Math.min(now + timeoutMs, deadline),
    timeoutMs,
    deadline,
    rounds: 0,
    prompts: 0,
    attempts: 0,
    via: request.via ?? 'flow',
    locale: request.locale,
    size: 0,
  });
}
