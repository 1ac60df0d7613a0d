// Shows a step that knows only `tools/call` every other way to run a tool, so that no guard can be passed by another method.
// 1. `interaction.start` of MCP Flow is shown to it as the call it is. What it throws is the answer; what it changes in name and
//    arguments is changed in the start.
// 2. A step that does more than judge (it reads or replaces the result, asks, listens, or answers itself) needs a real call: then
//    the tool is not played by its server, but called (play-as-call.ts).
// 3. A session that this step has not seen begin, because the steps were replaced meanwhile or the gateway was restarted, is judged
//    when it is continued.
import { atOnce, droppable } from '../../kernel/base/stray-promises.ts';
import { toPlayAsCall } from '../../kernel/flow/play-as-call.ts';
import { isObject, readOptionalObject, readString } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import type { LookUp, Next, OriginOf, Outcome, Step, StepExchange } from '../../kernel/step.ts';
import { CALL_TOOL, FLOW_START, FLOW_STATE, methodsWhere } from '../../kernel/methods.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { listAllEntries } from './list-entries.ts';
import { respond } from './outcome.ts';
import { whenStarted } from './when-started.ts';

/** A step at its place in the chain, for one exchange. */
interface Judging {
  exchange: StepExchange;
  next: Next;
  lookUp: LookUp;
  originOf: OriginOf | undefined;
}

/** Requests that let a tool run on. */
const CONTINUING: readonly string[] = methodsWhere(({ continues }) => continues);
const JUDGED: ReadonlySet<string> = new Set([FLOW_START, ...CONTINUING]);
/** Errors of MCP Flow: not found, expired, already cancelled. */
const GONE: readonly number[] = [-32001, -32002, -32006];
/** Sessions come from clients, so their number is bounded; one that is forgotten is judged again. */
const MAX_SESSIONS = 10_000;
/** Members of an exchange with which a step takes part in a call. */
const TAKES_PART = new Set<PropertyKey>(['ask', 'canAsk', 'intercept']);

export function judgeStarts(step: Step): Step {
  if (!step.handle || knowsStarts(step)) return step;
  const judged = new BoundedMap<string, true>(MAX_SESSIONS);
  const { methods } = step;
  return {
    get name() {
      return step.name;
    },
    get repeats() {
      return step.repeats;
    },
    get reword() {
      return step.reword;
    },
    get toolBehind() {
      return step.toolBehind;
    },
    get promptBehind() {
      return step.promptBehind;
    },
    ...(methods && { methods: [...methods, FLOW_START, ...CONTINUING] }),
    handle(exchange, next, lookUp, originOf) {
      const { method, client } = exchange;
      if (!JUDGED.has(method) || isAware(step, client)) return step.handle!(exchange, next, lookUp, originOf);
      const judging = { exchange, next, lookUp, originOf };
      const judge = (): Promise<Outcome> =>
        method === FLOW_START ? judgeStart(step, judging, judged) : judgeContinued(step, judging, judged);
      // A step for every method also sees it under its own name.
      return methods && !methods.includes(method) ? judge() : step.handle!(exchange, judge, lookUp, originOf);
    },
  };
}

/** Whether it is known in advance, for every client, that the step does its job on `interaction.start`. */
function knowsStarts({ methods, seesStarts }: Step): boolean {
  if (seesStarts !== undefined) return seesStarts === true;
  return methods !== undefined && (!methods.includes(CALL_TOOL) || methods.includes(FLOW_START));
}

function isAware({ seesStarts }: Step, client: StepExchange['client']): boolean {
  return typeof seesStarts === 'function' ? atOnce('seesStarts of a step', seesStarts(client)) : seesStarts === true;
}

/** For steps that hold others. */
export function seesStarts(step: Step, client: StepExchange['client']): boolean {
  return !step.handle || knowsStarts(step) || isAware(step, client);
}

async function judgeStart(step: Step, judging: Judging, judged: BoundedMap<string, true>): Promise<Outcome> {
  const { exchange, next, lookUp } = judging;
  const { params } = exchange;
  const tool = readString(params, 'toolName');
  const call = { name: tool, arguments: readOptionalObject(params, 'initialParams') ?? {}, ...metaOf(params) };
  const verdict = await tryCall(step, judging, call);
  if (verdict.isMore) {
    await whenStarted('tools', tool, exchange, judging.originOf);
    await requireListed(tool, lookUp);
    return respond(toPlayAsCall({ tool, wantedBy: 'step' }));
  }
  const { name, arguments: initialParams, ...more } = verdict.params;
  if (verdict.params !== call) exchange.params = { ...params, ...metaOf(more), toolName: name, initialParams };
  const outcome = await next();
  const { sessionId } = outcome.result;
  if (typeof sessionId === 'string') judged.set(sessionId, true);
  return outcome;
}

/** The values gathered so far are the arguments of the call. */
async function judgeContinued(step: Step, judging: Judging, judged: BoundedMap<string, true>): Promise<Outcome> {
  const { exchange, next, lookUp } = judging;
  const { sessionId } = exchange.params;
  if (typeof sessionId !== 'string' || judged.get(sessionId)) return next();
  const state = await lookUp(FLOW_STATE, { sessionId }).catch((thrown: unknown) => {
    if (!isGone(thrown)) throw unknownTool();
    return undefined; // then the answer says so
  });
  if (!state) return next();
  const { metadata, accumulatedData } = state;
  if (!isObject(metadata) || typeof metadata.toolName !== 'string') throw unknownTool();
  const call = { name: metadata.toolName, arguments: isObject(accumulatedData) ? accumulatedData : {} };
  const { isRefused } = await tryCall(step, judging, call);
  if (isRefused) throw new GatewayError('FLOW_NOT_INTERACTIVE', { tool: metadata.toolName });
  judged.set(sessionId, true);
  return next();
}

/** Of a server that does not tell which tool a session is of, none may run on unjudged. */
function unknownTool(): GatewayError {
  return new GatewayError('FLOW_NOT_INTERACTIVE', { tool: 'The tool of this session' });
}

/** The session never existed, or has ended. */
function isGone(thrown: unknown): boolean {
  const code = thrown instanceof GatewayError ? thrown.row.code : thrown instanceof ProtocolError ? thrown.code : 0;
  return GONE.includes(code);
}

interface Verdict {
  /** What the step passed on. */
  params: JsonObject;
  /** It needs a real call. */
  isMore: boolean;
  /** It answered itself. */
  isRefused: boolean;
}

/** Shows the step a call that ends before it reaches anything. Rejects with what the step throws. */
async function tryCall(step: Step, { exchange, lookUp, originOf }: Judging, call: JsonObject): Promise<Verdict> {
  const verdict: Verdict = { params: call, isMore: false, isRefused: true };
  const more = (): void => void (verdict.isMore = true);
  let hasAsked = false;
  const seen = viewOfCall(exchange, call, (isQuestion) => {
    more();
    hasAsked ||= isQuestion;
  });
  const passed = untouched(more);
  const next = async (): Promise<Outcome> => {
    verdict.params = seen.params;
    verdict.isRefused = false;
    return passed;
  };
  try {
    const outcome = await step.handle!(seen, next, lookUp, originOf);
    if (outcome !== passed) verdict.isMore = true;
    return verdict;
  } catch (thrown) {
    if (hasAsked) return verdict; // nobody has answered yet
    throw thrown;
  }
}

/** The exchange as if it were this call. */
function viewOfCall(exchange: StepExchange, call: JsonObject, takesPart: (asks: boolean) => void): StepExchange {
  let params = call;
  return new Proxy(exchange, {
    get(target, key) {
      if (key === 'method') return CALL_TOOL;
      if (key === 'params') return params;
      if (TAKES_PART.has(key)) takesPart(key !== 'intercept');
      if (key === 'canAsk') return () => true;
      if (key === 'ask')
        return () => droppable(Promise.reject(new GatewayError('FLOW_NOT_INTERACTIVE', { tool: String(call.name) })));
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set(target, key, value) {
      if (key === 'params') params = value as JsonObject;
      else return Reflect.set(target, key, value, target);
      return true;
    },
  });
}

/** An outcome without a result yet: a step that wants one needs a call. */
function untouched(touch: () => void): Outcome {
  let result: JsonObject = { content: [] };
  return Object.defineProperty(respond(result), 'result', {
    enumerable: true,
    get() {
      touch();
      return result;
    },
    set(value: JsonObject) {
      touch();
      result = value;
    },
  });
}

/** A session is begun only for a tool that exists. If the list cannot be fetched, the call says why. */
async function requireListed(tool: string, lookUp: LookUp): Promise<void> {
  const tools = await listAllEntries(lookUp, 'tools').catch(() => undefined);
  if (!tools || tools.some(({ name }) => name === tool)) return;
  throw new GatewayError('INVALID_PARAMS', { data: { toolName: tool, error: 'There is no such tool' } });
}

function metaOf({ _meta: meta }: JsonObject): JsonObject {
  return meta === undefined ? {} : { _meta: meta };
}
