// The `ask` object of one run. It is a class, because creating an object of functions for every run would be slower.
import { AskError } from '../authoring/ask-failure.ts';
import type { Ask } from '../authoring/ask.ts';
import type { FormFields } from '../authoring/fields.ts';
import {
  PERSON_OPTIONS,
  checkAskOptions,
  checkNames,
  checkHasChoices,
  checkEventOptions,
  checkOptionNames,
  checkStepOptions,
} from '../authoring/options.ts';
import type { AnySchema, ChoiceOption, EventOptions, PersonOptions } from '../authoring/options.ts';
import { toMs } from '../authoring/span.ts';
import type { Span } from '../authoring/span.ts';
import type { StepContext, StepOptions } from '../authoring/step.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { checkProgress, requireText } from './author-code.ts';
import { toNumber, toUuid } from './body-environment.ts';
import type { CurrentRun } from './current-run.ts';
import type { AskedPerson, QuestionSpec, QuestionOptions } from './question-spec.ts';
import { AskPromise } from './pending-ask.ts';
import type { EventSpec } from './pending-ask.ts';
import { MAX_PERSON_CHARS } from '../question/question.ts';
import type { Kind } from '../question/question.ts';

export function createAsk(run: CurrentRun): Ask {
  return new RunAsk(run) as unknown as Ask;
}

/** People whom a page can list. */
const MAX_OFFERED = 100;

class RunAsk {
  /** Not private, since a test may wrap this object in its own. */
  readonly run: CurrentRun;
  /** The prefix of every key, ending in a dot. */
  readonly scopes: string = '';
  /** The person who is asked; undefined for the caller. */
  readonly asked: AskedPerson | undefined = undefined;

  constructor(run: CurrentRun) {
    this.run = run;
  }

  /** An `ask` that asks another person. */
  person(principal: string, options: PersonOptions = {}): RunAsk {
    checkOptionNames(options, PERSON_OPTIONS, `ask.person('${principal}')`);
    checkNames(options.handOver, `ask.person('${principal}') with handOver`);
    const { remind, orCaller, handOver = [] } = options;
    for (const name of [principal, ...handOver]) checkPrincipal(name);
    if (handOver.length > MAX_OFFERED) {
      throw new GatewayError('FLOW_MISUSED', {
        reason: `handOver of ask.person() with more than ${MAX_OFFERED} principals`,
      });
    }
    const asked: AskedPerson = { principal };
    if (remind !== undefined) asked.remindMs = toMs(remind, 'remind of ask.person');
    if (orCaller) asked.orCaller = true;
    if (handOver.length > 0) asked.handOver = [...handOver];
    return Object.assign(Object.create(this) as RunAsk, { asked });
  }

  /** Inherits from this object, and so from the wrapper of a test too. */
  scope(id: string): RunAsk {
    return Object.assign(Object.create(this) as RunAsk, { scopes: `${keyOf(this, id)}.` });
  }

  text(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'text', key, options);
  }

  number(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'number', key, options);
  }

  confirm(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'confirm', key, options);
  }

  date(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'date', key, options);
  }

  file(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'file', key, options);
  }

  custom(key: string, options: QuestionOptions = {}): Promise<unknown> {
    return plain(this, 'custom', key, options);
  }

  choice(key: string, choices: readonly ChoiceOption[], options: QuestionOptions = {}): Promise<unknown> {
    checkAskOptions('choice', key, options);
    checkHasChoices(choices, `ask.choice('${key}')`);
    return put(this, key, { kind: 'choice', options, choices });
  }

  choices(key: string, choices: readonly ChoiceOption[], options: QuestionOptions = {}): Promise<unknown> {
    checkAskOptions('choices', key, options);
    checkHasChoices(choices, `ask.choices('${key}')`);
    return put(this, key, { kind: 'choices', options, choices });
  }

  form(key: string, fields: FormFields, options: QuestionOptions = {}): Promise<unknown> {
    checkAskOptions('form', key, options);
    return put(this, key, { kind: 'form', options, fields });
  }

  step(key: string, work: (step: StepContext) => unknown, options: StepOptions<unknown> = {}): Promise<unknown> {
    checkStepOptions(key, options);
    return this.run.ask({ key: keyOf(this, key), kind: 'step', work, options });
  }

  sleep(key: string, span: Span): Promise<unknown> {
    const sleepMs = toMs(span, 'ask.sleep');
    return this.run.ask({ key: keyOf(this, key), kind: 'sleep', sleepMs });
  }

  event(key: string, schema?: AnySchema, options: EventOptions = {}): Promise<unknown> {
    checkEventOptions(key, options);
    const timeoutMs = options.timeout === undefined ? undefined : toMs(options.timeout, `timeout of event ${key}`);
    const spec: EventSpec = { key: keyOf(this, key), kind: 'event', schema, timeoutMs };
    const event = this.run.ask(spec);
    return Object.defineProperty(event, 'key', { value: spec.key, enumerable: true });
  }

  /** The result counts as the question itself, so that it can lose a race. */
  try(question: Promise<unknown>): Promise<unknown> {
    const isAsked = question instanceof AskPromise;
    return isAsked ? question.seenAs(toAnswered, toUnanswered) : question.then(toAnswered, toUnanswered);
  }

  progress(current: number, total?: number, message?: string): void {
    checkProgress(current, total, message);
    this.run.progress = { current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
    this.run.isProgressNew = !this.run.replayQueue.isReplaying;
  }

  note(text: string): void {
    requireText(text ?? null, 'ask.note()');
    this.run.notes.said.push(text);
  }

  now(): number {
    return this.run.time;
  }

  today(): string {
    return new Date(this.run.time).toISOString().slice(0, 10);
  }

  random(): number {
    return toNumber(this.run.entropy.bytes(7));
  }

  uuid(): string {
    return toUuid(this.run.entropy.bytes(16));
  }

  /** A run that has nothing left to replay takes the new branch, and records that. */
  version(id: string): boolean {
    const { folded } = this.run.input;
    const known = folded.versions.get(id);
    if (known !== undefined) return known;
    const on = !this.run.replayQueue.isReplaying;
    if (on) {
      folded.versions.set(id, on);
      this.run.add({ t: 'ver', id, on, ts: this.run.turn.now });
    }
    return on;
  }

  get signal(): AbortSignal {
    return this.run.signal;
  }

  get locale(): string | undefined {
    return this.run.input.locale;
  }

  get session(): Ask['session'] {
    const { sessionId, folded } = this.run.input;
    return { id: sessionId, startedAt: folded.start.ts, context: folded.start.context };
  }

  get client(): Ask['client'] {
    return { ...this.run.input.folded.start.client };
  }
}

function plain(ask: RunAsk, kind: Kind, key: string, options: QuestionOptions): Promise<unknown> {
  checkAskOptions(kind, key, options);
  return put(ask, key, { kind, options });
}

/** Lists every member: a replay asks every question of its session again, and a spread would dominate its cost. */
function put(
  ask: RunAsk,
  name: string,
  { kind, options, choices, fields }: Omit<QuestionSpec, 'key'>,
): Promise<unknown> {
  const { run, asked } = ask;
  const key = keyOf(ask, name);
  // Notes are for the caller; other people do not see them.
  const notes = asked ? 0 : run.notes.said.length;
  return run.ask({ key, kind, options, choices, fields, person: asked, notes, loops: undefined });
}

function toAnswered(value: unknown): { ok: true; value: unknown } {
  return { ok: true, value };
}

function toUnanswered(thrown: unknown): { ok: false; reason: AskError['reason'] } {
  if (thrown instanceof AskError) return { ok: false, reason: thrown.reason };
  throw thrown;
}

function keyOf({ scopes }: RunAsk, key: string): string {
  return scopes === '' ? checked(key) : checked(scopes + checked(key));
}

const FORBIDDEN = /[~#\0]/;

/** `~` and `#` are reserved for the engine. */
function checked(key: string): string {
  if (typeof key === 'string' && key !== '' && key.length <= 200 && !FORBIDDEN.test(key)) return key;
  throw new GatewayError('FLOW_MISUSED', {
    reason: `the key ${JSON.stringify(key)}; use a plain name without ~ and #`,
  });
}

function checkPrincipal(principal: unknown): void {
  if (typeof principal !== 'string' || principal === '') {
    throw new GatewayError('FLOW_MISUSED', { reason: 'ask.person() without a principal' });
  }
  if (principal.length <= MAX_PERSON_CHARS) return;
  const reason = `ask.person() with a principal of ${principal.length} characters; it has at most ${MAX_PERSON_CHARS}`;
  throw new GatewayError('FLOW_MISUSED', { reason });
}
