// Checks what a server answers before a model reads it: with offline checks, and with a function of the user. What is found is flagged, which changes
// nothing, or held: then a person is asked, with the whole text before them, and a no replaces the answer. The tool has run by then.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { mapMembers } from '../../../kernel/raw/exact-numbers.ts';
import { toPlainObject } from '../../../kernel/raw/raw-object.ts';
import type { Outcome, Step, StepExchange } from '../../../kernel/step.ts';
import type { Ask } from '../../../kernel/exchange.ts';
import { nameIn } from '../../../kernel/named-thing.ts';
import { ELICIT_INPUT, methodsWhere, rowOf } from '../../../kernel/methods.ts';
import { systemClock, DeadlineList } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, ProtocolError } from '../../../kernel/base/errors.ts';
import { hasCovert, hasHidden, withoutCovert, withoutHidden } from '../../../kernel/text/hidden.ts';
import { suspiciousIn } from '../../../kernel/text/suspicious.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { shorten, visible } from '../../../kernel/base/visible.ts';
import type { DeadlineOptions } from '../../chain/deadline.ts';
import { answerIn, resultIn, withAnswer } from '../../chain/outcome.ts';
import { badOption, checkOptionChoice, withDefaults } from '../../chain/step-options.ts';
import { askPerson, logDecision } from '../approve/approvals.ts';
import type { Decision } from '../approve/approvals.ts';

export interface ScreenOptions {
  /** Judges one part of an answer. */
  by?: ((part: ScreenPart, context: ScreenContext) => ScreenVerdict | Promise<ScreenVerdict>) | undefined;
  /**
   * What follows if the offline checks find hidden characters, orders to a model or commands: `flag`, which is the default, `clean` (hidden
   * characters are removed), `hold`, or `off`.
   */
  results?: 'flag' | 'clean' | 'hold' | 'off' | undefined;
  /** How long to wait for a person; then the answer is not passed on. */
  timeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

/** One text on its way to a model. */
interface ScreenPart {
  /** `data`: structured content as JSON; `error`: the message of an error. */
  kind: 'text' | 'data' | 'error';
  text: string;
}

interface ScreenContext {
  method: string;
  /** The tool, prompt or resource. */
  name: string;
  server: string | undefined;
  principal: string;
}

type ScreenVerdict = 'pass' | 'flag' | 'hold';

const DEFAULTS = { by: undefined, results: 'flag', timeoutMs: 600_000, clock: systemClock };
const VERDICTS = ['pass', 'flag', 'hold'];

/**
 * Checks answers before a model reads them.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { screen } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [screen({ results: 'hold' })] });
 * ```
 */
export function screen(options: ScreenOptions = {}): Step {
  const { by, results, timeoutMs, clock } = withDefaults('screen', options, DEFAULTS);
  checkOptionChoice('screen.results', results, ['flag', 'clean', 'hold', 'off']);
  if (by !== undefined && typeof by !== 'function')
    throw badOption('screen.by', 'must be a function; in a configuration, name the file of a step that has it');
  const screening = new Screening({ by, results }, { ms: timeoutMs, extend: false, alarms: new DeadlineList(clock) });
  return {
    name: 'screen',
    methods: methodsWhere(({ content }) => content),
    handle: async function screen(exchange, next) {
      if (exchange.ownTool !== undefined && exchange.ownTool.name === exchange.params.name) return next();
      let outcome: Outcome;
      try {
        outcome = await next();
      } catch (thrown) {
        if (thrown instanceof ProtocolError) await screening.judgeError(thrown, exchange);
        throw thrown;
      }
      return screening.judge(outcome, exchange);
    },
  } satisfies Step;
}

class Screening {
  readonly #options: Pick<ScreenOptions, 'by' | 'results'>;
  readonly #limit: DeadlineOptions;

  constructor(options: Pick<ScreenOptions, 'by' | 'results'>, limit: DeadlineOptions) {
    this.#options = options;
    this.#limit = limit;
  }

  /** An answer without findings passes unchanged, and unparsed if it was not parsed. */
  async judge(outcome: Outcome, exchange: StepExchange): Promise<Outcome> {
    const whole = toPlainObject(resultIn(outcome));
    const result = answerIn(whole, exchange);
    if (!isObject(result)) return outcome;
    const refusal = await this.#refusalOf(partsOf(result), exchange);
    const passed = refusal === undefined ? this.#clean(result) : refused(refusal, exchange);
    if (passed !== result) outcome.result = withAnswer(whole, passed, exchange);
    return outcome;
  }

  async judgeError({ message }: ProtocolError, exchange: StepExchange): Promise<void> {
    const refusal = await this.#refusalOf([{ kind: 'error', text: message }], exchange);
    if (refusal !== undefined) throw toError(refusal, exchange);
  }

  /** Undefined if it may pass. */
  async #refusalOf(parts: readonly ScreenPart[], exchange: StepExchange): Promise<string | undefined> {
    const context = toContext(exchange);
    const found = new Set<string>();
    const suspects: ScreenPart[] = [];
    for (const part of parts) {
      const { verdict, findings } = await this.#verdictOn(part, context);
      for (const one of findings) found.add(one);
      if (verdict === 'hold') suspects.push(part);
    }
    if (found.size === 0) return undefined;
    const isHeld = suspects.length > 0;
    const findings = [...found];
    if (exchange.observed) exchange.observed.findings = findings;
    const { name, server } = context;
    exchange.gatewayLog.warn({ exchange: exchange.id, name, server, findings, isHeld }, 'result.flagged');
    return isHeld ? reviewByPerson({ ...context, findings, parts: suspects }, exchange, this.#limit) : undefined;
  }

  async #verdictOn(part: ScreenPart, context: ScreenContext): Promise<{ verdict: ScreenVerdict; findings: string[] }> {
    const { by, results } = this.#options;
    const findings: string[] =
      results === 'off' ? [] : [...(isHiding(part.text) ? ['hidden'] : []), ...suspiciousIn(part.text)];
    const own = by ? await by(part, context) : 'pass';
    if (!VERDICTS.includes(own)) throw badOption('screen.by', `must return ${VERDICTS.join(', ')}`);
    const isHeld = own === 'hold' || (results === 'hold' && findings.length > 0);
    return { verdict: isHeld ? 'hold' : own, findings: own === 'pass' ? findings : [...findings, 'screen'] };
  }

  #clean(result: JsonObject): JsonObject {
    return this.#options.results === 'clean' ? withoutHiddenParts(result) : result;
  }
}

function isHiding(text: string): boolean {
  return hasHidden(text) || hasCovert(text);
}

function toContext({ method, params, server, owner, client }: StepExchange): ScreenContext {
  const name = nameIn(method, params) ?? params.taskId;
  return { method, name: String(name), server: server ?? owner, principal: client.principal };
}

/** Models read results better than errors; other requests have no results that say no. */
function refused(reason: string, exchange: StepExchange): JsonObject {
  const error = toError(reason, exchange);
  if (rowOf(exchange.method)?.content !== 'tool') throw error;
  return { content: [{ type: 'text', text: `${error.message}. It was done; do not try again.` }], isError: true };
}

function toError(reason: string, exchange: StepExchange): GatewayError {
  return new GatewayError('ANSWER_HELD', { name: toContext(exchange).name, reason });
}

/** The members of results that hold what models read. */
const HOLDERS = ['content', 'contents', 'messages'] as const;
const BYTES = new Set(['data', 'blob']);

/** The parts of a result that a model reads: texts, and structured content as JSON. Pictures, sound and other bytes are not among them. */
function partsOf(result: JsonObject): ScreenPart[] {
  const texts = HOLDERS.flatMap((key) => textsIn(result[key]));
  const parts: ScreenPart[] = texts.map((text) => ({ kind: 'text', text }));
  const { structuredContent: data } = result;
  return data === undefined ? parts : [...parts, { kind: 'data', text: JSON.stringify(data) }];
}

function textsIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((block: unknown) => {
    if (!isObject(block)) return [];
    const { text, title, name, description, resource, content } = block;
    const own = [text, title, name, description].filter((one) => typeof one === 'string');
    return [...own, ...textsIn([resource, content])];
  });
}

/** Without hidden characters; the same object if there are none. */
function withoutHiddenParts(result: JsonObject): JsonObject {
  const changed: JsonObject = {};
  for (const key of [...HOLDERS, 'structuredContent']) {
    const clean = cleaned(result[key]);
    if (clean !== result[key]) changed[key] = clean;
  }
  return Object.keys(changed).length > 0 ? { ...result, ...changed } : result;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutCovert(withoutHidden(value));
  if (typeof value !== 'object' || value === null) return value;
  return mapMembers(value, (one, key) => (BYTES.has(key) ? one : cleaned(one)));
}

interface HeldAnswer {
  name: string;
  server: string | undefined;
  findings: readonly string[];
  parts: readonly ScreenPart[];
}

/**
 * Asks a person whether a model may read an answer. It is a question that only a person may answer, asked in the same way as for an approval, and it
 * shows every held part whole: what is too long to be shown is not passed on. Resolves with the reason of a refusal, or undefined if it may pass.
 */
async function reviewByPerson(
  held: HeldAnswer,
  exchange: StepExchange,
  limit: DeadlineOptions,
): Promise<string | undefined> {
  const given: Omit<Decision, 'refusal'> = { way: 'client' };
  const onAnswered: Ask['onAnswered'] = (way, who, shown) => void Object.assign(given, { way, who, shown });
  const refusal = await askPerson({ ...toQuestion(held), onAnswered }, exchange, limit);
  logDecision(held.name, exchange, { ...given, refusal });
  return refusal;
}

function toQuestion({ name, server, findings, parts }: HeldAnswer): Ask {
  const source = `${visible(shorten(name))} of ${visible(shorten(server ?? 'the server'))}`;
  const text = parts.map((part) => quoted(part.text)).join('\n\n');
  const message = `May the model read this answer of ${source}? It was held because of: ${findings.join(', ')}.\n\n${text}`;
  const approve = { type: 'boolean', title: 'Pass it on', description: 'Yes, the model may read it.' };
  const requestedSchema = { type: 'object', properties: { approve }, required: ['approve'] };
  const params = { mode: 'form', message, requestedSchema };
  return { method: ELICIT_INPUT, params, key: randomId('review_'), human: true, ofGateway: true };
}

/** Line by line, so that no line can pass for one of ours. */
function quoted(text: string): string {
  const lines = text.split(/\r\n|[\n\r]/);
  return lines.map((line) => `> ${visible(line)}`).join('\n');
}
