// A session before its first run: its header, and the beginning of its journal.
import type { AnyFlow } from '../define.ts';
import { toMs } from '../authoring/span.ts';
import type { FoundQuestion } from '../explore/explore.ts';
import { PREFILLED } from '../journal.ts';
import type { Entry, Header } from '../journal.ts';
import { toReason } from '../../protocol/json-schema-problem.ts';
import { GatewayError } from '../../shared/errors.ts';
import { refuseMalice } from './malice.ts';
import type { StartRequest } from './requests.ts';
import { toOwner } from './setup.ts';
import type { Setup } from './setup.ts';

const MIN_TIMEOUT_MS = 50;

export async function startOf(
  setup: Setup,
  flow: AnyFlow,
  request: StartRequest,
): Promise<{ header: Header; entries: Entry[] }> {
  const id = setup.newId();
  const { args = {}, context, client } = request;
  refuseMalice(args, id, setup.limits);
  refuseMalice(context, id, setup.limits);
  const input = await toInput(flow, args);
  const now = setup.clock.now();
  const start: Entry = {
    ...{ t: 'start', input, seed: setup.newSeed(), ts: now },
    ...(context !== undefined && { context }),
    ...(client && { client }),
  };
  return { header: toHeader(setup, flow, { id, now, request }), entries: [start, ...toPrefilled(args, now)] };
}

/** A secret that was handed over as an argument has been in a model, and goes no further. */
export function withoutSecrets(args: StartRequest['args'] = {}, questions: FoundQuestion[] = []): StartRequest['args'] {
  const secrets = new Set(questions.flatMap(({ spec }) => (spec.options.secret ? [spec.key] : [])));
  if (secrets.size === 0) return args;
  return Object.fromEntries(Object.entries(args).filter(([key]) => !secrets.has(key)));
}

async function toInput(flow: AnyFlow, args: Record<string, unknown>): Promise<unknown> {
  const verdict = await flow.input?.check(args);
  if (!verdict?.problems) return verdict ? verdict.value : args;
  const [first] = verdict.problems;
  throw new GatewayError('FLOW_VALIDATION_FAILED', { parameter: first?.path, reason: toReason(verdict.problems) });
}

/** An argument that is named like a question answers it, when it comes. */
function toPrefilled(args: Record<string, unknown>, ts: number): Entry[] {
  return Object.entries(args)
    .filter(([, v]) => v !== undefined && v !== null)
    .map(([k, v]) => ({ t: 'ans', k, a: 0, ty: PREFILLED, v, src: 'args', via: 'args', ts }));
}

function toHeader(setup: Setup, flow: AnyFlow, begin: { id: string; now: number; request: StartRequest }): Header {
  const { limits } = setup;
  const { id, now, request } = begin;
  const wanted = request.timeoutMs ?? flow.timeoutMs ?? limits.timeoutMs;
  const timeoutMs = Math.min(Math.max(wanted, MIN_TIMEOUT_MS), limits.maxTimeoutMs);
  const own = flow.options.limits?.duration;
  const deadline = now + (own === undefined ? limits.durationMs : toMs(own, 'limits.duration'));
  return {
    ...{ id, tool: flow.name, version: flow.version, principal: toOwner(request.principal), state: 'active', rev: 0 },
    ...{ createdAt: now, lastActivityAt: now, expiresAt: Math.min(now + timeoutMs, deadline), timeoutMs, deadline },
    ...{ rounds: 0, prompts: 0, attempts: 0, via: request.via ?? 'flow', current: [] },
    ...(request.locale !== undefined && { locale: request.locale }),
  };
}
