// A session before its first run: its header, and the beginning of its journal.
import type { AnyFlow } from '../../define.ts';
import { toMs } from '../../authoring/span.ts';
import type { FoundQuestion } from '../../explore/explored.ts';
import { newHeader } from '../../journal.ts';
import type { Entry, Header } from '../../journal.ts';
import { toReason } from '../../../protocol/schema/json-schema-problem.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { toGivenArgs, toUnknown } from '../values/given-args.ts';
import type { GivenArgs } from '../values/given-args.ts';
import { toPrefilled } from '../values/held-args.ts';
import { refuseMalice } from '../values/malice.ts';
import type { StartRequest } from './requests.ts';
import { toOwner } from '../setup.ts';
import { toStarted, toStartedId } from './start-id.ts';
import type { Setup } from '../setup.ts';

const MIN_TIMEOUT_MS = 50;

export async function startOf(
  setup: Setup,
  flow: AnyFlow,
  { request, questions }: { request: StartRequest; questions: readonly FoundQuestion[] },
): Promise<{ header: Header; entries: Entry[] }> {
  const now = setup.clock.now();
  const { startId, sessionId = setup.newId(), principal, tool, args } = request;
  const id = startId === undefined ? sessionId : toStartedId(principal, startId);
  const header = toHeader(setup, flow, { id, now, request });
  if (startId !== undefined || request.sessionId !== undefined) header.started = toStarted(tool, args);
  const { context, client } = request;
  const given = await toGiven(setup, flow, { header, request, questions });
  refuseMalice(context, header.id, setup.limits);
  const input = await toInput(flow, given.args);
  const held = toUnknown(flow, given, questions);
  const start: Entry = {
    ...{ t: 'start', input, seed: setup.newSeed(), ts: now },
    ...(held.length > 0 && { held }),
    ...(context !== undefined && { context }),
    ...(client && { client }),
  };
  // In the order in which they will be read back: it is part of the truth.
  const named = Object.entries(given.args).sort(([a], [b]) => Number(held.includes(b)) - Number(held.includes(a)));
  const prefilled = toPrefilled(Object.fromEntries(named), now, given.files);
  return { header, entries: [start, ...prefilled] };
}

/** Each by itself first: a file may be larger than all the rest. */
async function toGiven(
  setup: Setup,
  flow: AnyFlow,
  { header, request, questions }: { header: Header; request: StartRequest; questions: readonly FoundQuestion[] },
): Promise<GivenArgs> {
  const { args = {}, locale } = request;
  for (const value of Object.values(args)) refuseMalice(value, header.id, setup.limits);
  const tongue = { catalogue: flow.options.messages, locale };
  const given = await toGivenArgs(setup, args, { session: header, questions, tongue });
  refuseMalice(given.args, header.id, setup.limits);
  return given;
}

async function toInput(flow: AnyFlow, args: Record<string, unknown>): Promise<unknown> {
  const verdict = await flow.input?.check(args);
  if (!verdict?.problems) return verdict ? verdict.value : args;
  const [first] = verdict.problems;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { parameter: first?.path, reason: toReason(verdict.problems) });
}

function toHeader(setup: Setup, flow: AnyFlow, begin: { id: string; now: number; request: StartRequest }): Header {
  const { limits } = setup;
  const { id, now, request } = begin;
  const wanted = request.timeoutMs ?? flow.timeoutMs ?? limits.timeoutMs;
  const timeoutMs = Math.min(Math.max(wanted, MIN_TIMEOUT_MS), limits.maxTimeoutMs);
  const own = flow.options.limits?.duration;
  const deadline = now + (own === undefined ? limits.durationMs : toMs(own, 'limits.duration'));
  return newHeader({
    id,
    tool: flow.name,
    version: flow.version,
    principal: toOwner(request.principal),
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
