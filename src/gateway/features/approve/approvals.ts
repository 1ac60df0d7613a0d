// Asks for approval and remembers the answers: each answer while its call may be retried, and a yes as long as configured, for
// the same principal only. Every decision is logged with how it was made.
import { writeExactly, membersOf } from '../../../kernel/raw/exact-numbers.ts';
import type { AnswerWay, Ask } from '../../../kernel/exchange.ts';
import type { StepExchange } from '../../../kernel/step.ts';
import { isObject, roughBytes } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { ELICIT_INPUT } from '../../../kernel/methods.ts';
import { loggedPrincipal } from '../../../kernel/base/anonymous.ts';
import { ticksOf, DeadlineList } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { sha256 } from '../../../kernel/crypto/lazy-crypto.ts';
import { MAX_SHOWN_CHARS } from '../../../kernel/base/limits.ts';
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { visible } from '../../../kernel/base/visible.ts';
import { ChainExchange } from '../../chain/chain-exchange.ts';
import { Deadline } from '../../chain/deadline.ts';
import type { DeadlineOptions } from '../../chain/deadline.ts';
import { badOption, checkOptionChoice, withDefaults } from '../../chain/step-options.ts';
import type { JudgedTool } from './approval-rule.ts';
import { sharedApproval } from './shared-approval.ts';
import type { ApprovedThing } from './shared-approval.ts';

/** How long a yes holds, and whether for the same arguments or for the tool with any arguments. */
export interface Remember {
  ms: number;
  per?: 'arguments' | 'tool' | undefined;
}

export interface ApprovalsOptions {
  message: string;
  remember: Remember | undefined;
  timeoutMs: number;
  clock: Clock;
}

export interface Decision {
  way: AnswerWay | 'remembered' | 'rule';
  /** Who vouches for the answer, if known. */
  who?: string | undefined;
  /** A digest of what the person was shown. */
  shown?: string | undefined;
  /** The reason of a refusal; absent for a yes. */
  refusal?: string | undefined;
}

/** `{tool}`, `{server}` and `{arguments}` are placeholders. */
export const DEFAULT_MESSAGE = 'Call {tool} of {server}?\n\n{arguments}';

/** Nothing has failed: a person has decided. */
const SAID_NO = 'the user said no';
const MAX_KEPT = 10_000;
/** The answers by call, for all approving steps; undefined means approved. */
const calls = new BoundedMap<string, Promise<string | undefined>>(MAX_KEPT);

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #remember: Required<Remember> | undefined;
  readonly #limit: DeadlineOptions;
  /** When each yes expires. */
  readonly #given = new BoundedMap<string, number>(MAX_KEPT);

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#limit = { ms: options.timeoutMs, extend: false, alarms: new DeadlineList(options.clock) };
    this.#remember = options.remember && readRemember(options.remember);
  }

  /** Resolves with the reason of a refusal, or undefined if approved. Rejects if the call is over or no person can be asked. */
  ask({ name: tool, origin }: JudgedTool, exchange: StepExchange): Promise<string | undefined> {
    // What is far too long to be shown is not written out first.
    const length = roughBytes(exchange.params.arguments, MAX_SHOWN_CHARS);
    const isTooLong = length > MAX_SHOWN_CHARS;
    const digest = isTooLong ? '' : digestOf(exchange);
    const lasting = JSON.stringify([
      exchange.client.principal,
      exchange.scope,
      tool,
      this.#remember?.per === 'tool' ? '' : digest,
    ]);
    if ((this.#given.get(lasting) ?? 0) > ticksOf(this.#options.clock)) {
      logDecision(tool, exchange, { way: 'remembered' });
      return Promise.resolve(undefined);
    }
    if (isTooLong) {
      const { message, row } = new GatewayError('TOO_LONG_TO_SHOW', { length, limit: MAX_SHOWN_CHARS });
      const refusal = `${message}. ${row.hint}`;
      logDecision(tool, exchange, { way: 'rule', refusal }, '');
      return Promise.resolve(refusal);
    }
    const key = JSON.stringify([
      lineageOf(exchange),
      exchange.id,
      origin ? [origin.server, origin.name] : tool,
      digest,
    ]);
    const known = calls.get(key);
    if (known) return known;
    const given: Omit<Decision, 'refusal'> = { way: 'client' };
    const onAnswered: Ask['onAnswered'] = (way, who, shown) => void Object.assign(given, { way, who, shown });
    const together = this.#remember && sharedApproval(exchange, this.#thingOf(origin, digest));
    const ask = async (): Promise<string | undefined> => {
      if (await together?.isGiven()) {
        logDecision(tool, exchange, { way: 'remembered' });
        return undefined;
      }
      const refusal = await this.#askPerson(tool, exchange, onAnswered);
      logDecision(tool, exchange, { ...given, refusal });
      if (refusal === undefined && this.#remember) {
        this.#given.set(lasting, ticksOf(this.#options.clock) + this.#remember.ms);
        await together?.give(this.#remember.ms);
      }
      return refusal;
    };
    const asked = ask();
    calls.set(key, asked);
    return asked;
  }

  /** What a yes is said to; another question needs another yes. */
  #thingOf(origin: JudgedTool['origin'], digest: string): ApprovedThing {
    const question = JSON.stringify([this.#options.message, this.#remember]);
    return { origin, question, digest, isForTool: this.#remember?.per === 'tool' };
  }

  async #askPerson(
    tool: string,
    exchange: StepExchange,
    onAnswered: NonNullable<Ask['onAnswered']>,
  ): Promise<string | undefined> {
    const calling = { tool, server: exchange.owner, arguments: exchange.params.arguments };
    const question = { ...toApprovalQuestion(calling, this.#options.message, this.#note), onAnswered };
    return askPerson(question, exchange, this.#limit);
  }

  get #note(): string {
    if (!this.#remember) return '';
    const { ms, per } = this.#remember;
    const what = per === 'tool' ? 'this tool with any arguments' : 'this tool with these arguments';
    return `This holds for ${what}, for ${Math.ceil(ms / 60_000)} min.`;
  }
}

function readRemember(remember: Remember): Required<Remember> {
  const { ms, per } = withDefaults('approve.remember', remember, { ms: 0, per: 'arguments' });
  checkOptionChoice('approve.remember.per', per, ['arguments', 'tool']);
  if (ms === 0) throw badOption('approve.remember.ms', 'must be more than 0');
  return { ms, per };
}

/** Digests the arguments exactly as sent: two large ids may be the same JavaScript number but different arguments. */
function digestOf({ params }: StepExchange): string {
  const written = params.arguments === undefined ? '' : writeExactly(params.arguments);
  return sha256(written, 'base64url');
}

/** A call that starts over with other steps is not asked about again. */
function lineageOf(exchange: StepExchange): string {
  return exchange instanceof ChainExchange ? exchange.chain.lineage : exchange.scope;
}

/** As a warning, so that approvals are logged at the default level. */
export function logDecision(
  tool: string,
  exchange: StepExchange,
  decision: Decision,
  digest = digestOf(exchange),
): void {
  const { id, owner: server, client, gatewayLog } = exchange;
  const { way, who, shown, refusal } = decision;
  if (refusal === SAID_NO && exchange.observed) exchange.observed.isDeclined = true;
  const proof = { ...(who !== undefined && { by: who }), ...(shown !== undefined && { shown }) };
  exchange.audit?.({
    kind: 'approval',
    exchange: id,
    principal: loggedPrincipal(client.principal),
    server,
    method: exchange.method,
    name: tool,
    outcome: refusal === undefined ? 'given' : 'refused',
    details: {
      way,
      ...proof,
      client: client.info.name,
      ...(digest !== '' && { digest }),
      ...(refusal !== undefined && { reason: refusal }),
    },
  });
  const about = { exchange: id, tool, server, client: client.info.name, way, ...(who !== undefined && { who }) };
  if (refusal === undefined) gatewayLog.warn(about, 'approval.given');
  else gatewayLog.warn({ ...about, reason: refusal }, 'approval.refused');
}

const MAX_NAME = 80;

interface CallToApprove {
  tool: string;
  server: string | undefined;
  arguments: unknown;
}

/**
 * Asks whether a call may be made.
 * 1. It shows the tool, its server and every argument, whole: nothing is cut, left out or redacted, because a person approves only what they have seen.
 *    A question that is too long to be shown is refused where it is asked (limits.maxShownChars).
 * 2. Names and values come from a model: they can neither imitate other lines of the question nor hide what follows.
 * 3. The form is never empty or prefilled: a client that accepts every question has not said yes.
 */
function toApprovalQuestion(calling: CallToApprove, message: string, note: string): Ask {
  const words: Record<string, string> = {
    tool: toLine(calling.tool, MAX_NAME),
    server: toLine(calling.server ?? 'the server', MAX_NAME),
    arguments: toLines(calling),
  };
  const requestedSchema = {
    type: 'object',
    properties: { approve: { type: 'boolean', title: 'Approve', description: `Yes, call it. ${note}`.trim() } },
    required: ['approve'],
  };
  const whole = message.includes('{arguments}') ? message : `${message}\n\n{arguments}`;
  const filled = whole.replace(/\{(tool|server|arguments)\}/g, (_, word: string) => words[word]!);
  const params = { mode: 'form', message: filled, requestedSchema };
  return { method: ELICIT_INPUT, params, key: randomId('approve_'), human: true, ofGateway: true, isBefore: true };
}

function toLine(text: string, max: number): string {
  const line = visible(text);
  if (line.length <= max) return line;
  return `${line.slice(0, max)}… (${line.length} characters in all)`;
}

function toLines({ arguments: given }: CallToApprove): string {
  if (given === undefined || (isObject(given) && Object.keys(given).length === 0)) return 'It has no arguments.';
  const exact = writeExactly(given);
  if (!isObject(given)) return visible(exact);
  const entries = Object.entries(given);
  const members = membersOf(exact);
  const areAll = members.length === entries.length; // a step may have set some to undefined
  const lines = entries.map(([name, value], index) => {
    const written = areAll ? members[index]! : (JSON.stringify(value) ?? 'nothing');
    return `${visible(name)}: ${visible(written)}`;
  });
  return lines.join('\n');
}

/** Asks a person a yes-or-no question. Resolves with the reason of a refusal, or undefined for a yes. */
export async function askPerson(
  question: Ask,
  exchange: StepExchange,
  limit: DeadlineOptions,
): Promise<string | undefined> {
  const { signal } = exchange;
  const deadline = new Deadline(limit, signal);
  try {
    const late = () => new GatewayError('ASK_REFUSED', { reason: 'there was no answer in time' });
    const asked = exchange.ask({ ...question, waitsMs: limit.ms }, deadline.signal);
    return refusalIn(await deadline.race(asked, late));
  } catch (thrown) {
    return toRefusal(thrown, signal);
  }
}

/** The reason of a refusal; undefined for a yes. */
function refusalIn({ action, content }: JsonObject): string | undefined {
  if (action === 'accept' && isObject(content) && content.approve === true) return undefined;
  if (action === 'accept' && isObject(content) && content.approve === false) return SAID_NO;
  if (action === 'accept') return 'the answer says neither yes nor no';
  return action === 'decline' ? SAID_NO : 'the question was closed without an answer';
}

const EXPLAINED: ReadonlySet<string> = new Set(['NO_PERSON', 'NO_PAGE', 'TOO_LONG_TO_SHOW']);

/** A question without an answer counts as a no. */
function toRefusal(thrown: unknown, signal: AbortSignal): string {
  if (!(thrown instanceof GatewayError) || signal.aborted) throw thrown;
  if (thrown.code === 'ASK_REFUSED') return String(thrown.details.reason);
  if (thrown.code === 'CANCELLED') return 'the question was cancelled';
  if (EXPLAINED.has(thrown.code)) return `${thrown.message}. ${thrown.row.hint}`;
  throw thrown;
}
