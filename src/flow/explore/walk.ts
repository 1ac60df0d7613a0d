// Walks one path through a body with made-up answers, until it reads the result of a step or asks for consent, which is never made up.
// Writes nothing and runs no step.
import { systemClock } from '../../kernel/base/clock.ts';
import type { FormFields } from '../authoring/fields.ts';
import type { AnyFlow } from '../define.ts';
import { authorLineOf, findAuthorLine } from '../engine/author-line.ts';
import { BodyRun } from '../engine/body-run.ts';
import type { RunState, AskSpec, PendingStep } from '../engine/pending-ask.ts';
import { toQuestionField } from '../engine/question-spec.ts';
import type { QuestionSpec, QuestionOptions } from '../engine/question-spec.ts';
import { fold } from '../fold.ts';
import type { AnswerEntry, JournalEntry } from '../journal.ts';
import type { Stop } from './exploration.ts';
import { branchAnswers, sampleInput, sampleAnswer } from './sample-answers.ts';
import type { Variant } from './sample-answers.ts';

const MAX_ROUNDS = 200;
const YEAR_MS = 365 * 24 * 3_600_000;
/** Time and random numbers differ between both sets, so questions that depend on them are not asked ahead. */
const SEEDS = { a: 'AAAAAAAAAAAAAAAAAAAAAA', b: 'BBBBBBBBBBBBBBBBBBBBBA' };
const LATER = { a: 0, b: 2 * YEAR_MS };

export interface WalkRound {
  specs: QuestionSpec[];
  /** A step came before it, so it may not always be asked. */
  afterStep: boolean;
  /** An earlier answer has too many possible values to try all. */
  isAfterProbes: boolean;
}

export interface Walk {
  variant: Variant;
  rounds: WalkRound[];
  /** Answers at the branches of the body, in order. */
  decisions: unknown[];
  /** Other possible answers at the branches. */
  others: { at: number; value: unknown }[];
  /** Undefined if it reached the end of the body. */
  stop: Stop | undefined;
}

/** `isOver`: checked whenever the body rests. */
export async function walk(
  flow: AnyFlow,
  decisions: readonly unknown[],
  { variant, isOver }: { variant: Variant; isOver: () => boolean },
): Promise<Walk> {
  const way: Walk = { variant, rounds: [], decisions: [...decisions], others: [], stop: undefined };
  const poison = createPlaceholders();
  const circumstances = { seed: SEEDS[variant], ts: systemClock.now() + LATER[variant] };
  const { ts } = circumstances;
  const body = begin(flow, circumstances);
  const isDone = () => poison.used !== undefined || isOver() || way.rounds.length >= MAX_ROUNDS;
  const stopAt = (why: Stop['why'], key?: string): Walk => ({
    ...way,
    stop: { why, key, where: body.run.places.get(key) },
  });
  let [decided, steps, probes] = [0, 0, 0];
  let rest = await body.next();
  for (; rest && !isDone(); rest = await body.next()) {
    if (rest.kind === 'steps') {
      steps += rest.steps.length;
      for (const pending of rest.steps) skipStep(body.run, pending, { v: poison.valueOf(pending.spec.key), ts });
    } else if (rest.kind === 'asks') {
      const asked = rest.asks.map(({ spec }) => spec);
      const person = asked.find((spec) => spec.person);
      if (person) return stopAt('person', person.key); // a person's answer is never made up, and cannot be an argument
      if (asked.length === 0) return stopAt('wait', rest.waits[0]?.spec.key);
      const specs = toPlain(asked);
      if (!specs) break;
      way.rounds.push({ specs, afterStep: steps > 0, isAfterProbes: probes > 0 });
      const consent = specs.find(isConsent);
      if (consent) return stopAt('consent', consent.key);
      for (const spec of asked) {
        const forks = branchAnswers(spec);
        if (!forks) probes++;
        const value = forks ? decide(way, decided++, { forks, variant }) : sampleAnswer(spec, variant);
        body.run.replayQueue.add(toEntry(spec, { value, ts }));
      }
    } else break;
  }
  if (poison.used) {
    const { step, where = body.run.last } = poison.used;
    return { ...way, stop: { why: 'result', key: step, where } };
  }
  if (rest?.kind === 'failed') return { ...way, stop: toFailed(rest.error) };
  if (rest?.kind === 'ended') return way;
  return rest ? stopAt('rounds', way.rounds.at(-1)?.specs[0]?.key) : stopAt('stalled');
}

/** Runs the body. `next` resolves when it rests, with undefined if it waits for something else than a question or step. */
function begin(
  flow: AnyFlow,
  { seed, ts }: { seed: string; ts: number },
): { run: PlacedRun; next(): Promise<RunState | undefined> } {
  const start: JournalEntry = { t: 'start', input: sampleInput(flow.input?.json), seed, ts };
  const run = new PlacedRun(
    { flow, folded: fold([start]), sessionId: 'explored', isTrusting: true },
    { now: ts, checks: 'off' }, // the sandbox reports what was tried
  );
  return { run, next: () => run.nextUnlessStalled() };
}

/** Records the line of the body that asked for each question and step. */
class PlacedRun extends BodyRun {
  readonly places = new Map<string | undefined, string | undefined>();
  last: string | undefined;

  override ask(spec: AskSpec): Promise<unknown> {
    this.last = findAuthorLine();
    const promise = super.ask(spec);
    // After the call, which may number the key in a loop.
    this.places.set(spec.key, this.last);
    return promise;
  }
}

function skipStep(run: BodyRun, pending: PendingStep, { v, ts }: { v: unknown; ts: number }): void {
  run.stepStarted(pending);
  run.stepFinished(pending, { t: 'step', k: pending.spec.key, v, att: 1, ts });
}

function toFailed(error: unknown): Stop {
  const failure = error instanceof Error ? error : new Error(String(error));
  return { why: 'failed', error: failure.message, where: authorLineOf(failure) };
}

/** Undefined if their text depends on a step. */
function toPlain(asked: readonly QuestionSpec[]): QuestionSpec[] | undefined {
  try {
    return asked.map(toPlainSpec);
  } catch (thrown) {
    if (thrown instanceof PlaceholderUsedError) return undefined;
    throw thrown;
  }
}

/** Consent is a person's own answer, also as a field of a form. */
function isConsent({ kind, options, fields = {} }: QuestionSpec): boolean {
  return (
    kind === 'confirm' || options.by === 'human' || Object.values(fields).some((field) => field.kind === 'confirm')
  );
}

/** The given decision, else the first or last possible answer. */
function decide(way: Walk, at: number, { forks, variant }: { forks: unknown[]; variant: Variant }): unknown {
  if (at < way.decisions.length) return way.decisions[at];
  const own = variant === 'a' ? 0 : forks.length - 1;
  way.decisions.push(forks[own]);
  way.others.push(...forks.toSpliced(own, 1).map((value) => ({ at, value })));
  return forks[own];
}

function toEntry({ key, kind }: QuestionSpec, { value, ts }: { value: unknown; ts: number }): AnswerEntry {
  return { t: 'ans', k: key, a: 1, ty: kind, v: value, src: 'human', via: 'flow', ts };
}

interface StepPlaceholders {
  /** The placeholder of this step. */
  valueOf(step: string): unknown;
  /** The first placeholder that was read, and where. */
  readonly used: { step: string; where: string | undefined } | undefined;
}

class PlaceholderUsedError extends Error {
  constructor() {
    super('made-up result of a step');
    this.name = 'PlaceholderUsedError';
  }
}

/**
 * Placeholders for the results of steps that are not run. One can be passed around; reading it stops the path, as the rest depends on the step.
 */
function createPlaceholders(): StepPlaceholders {
  let used: StepPlaceholders['used'];
  const valueOf = (step: string): unknown => {
    const use = (): never => {
      used ??= { step, where: findAuthorLine() };
      throw new PlaceholderUsedError();
    };
    return new Proxy(() => {}, {
      // Promises look for `then` in the value they resolve with.
      get: (_, name) => (name === 'then' ? undefined : use()),
      apply: use,
      construct: use,
      has: use,
      ownKeys: use,
      getOwnPropertyDescriptor: use,
      getPrototypeOf: use,
      set: use,
      deleteProperty: use,
      defineProperty: use,
    });
  };
  return {
    valueOf,
    get used() {
      return used;
    },
  };
}

/** What the author wrote, as plain JSON without functions. Throws if a part of it comes from the placeholder of a step. */
function toPlainSpec(spec: QuestionSpec): QuestionSpec {
  const { key, kind, choices, fields, loops } = spec;
  const plain: QuestionSpec = { key, kind, options: toPlainOptions(spec) };
  if (choices) plain.choices = choices;
  if (loops !== undefined) plain.loops = loops;
  if (fields) plain.fields = toPlainFields(fields);
  return JSON.parse(JSON.stringify(plain)) as QuestionSpec;
}

function toPlainFields(fields: FormFields): FormFields {
  const pairs = Object.entries(fields).map(([name, { kind, options, choices }]) => {
    return [
      name,
      { kind, options: toPlainOptions({ key: name, kind, options }), ...(choices && { choices }) },
    ] as const;
  });
  return Object.fromEntries(pairs);
}

function toPlainOptions(spec: QuestionSpec): QuestionOptions {
  const { validate, schema, pattern, ...options } = spec.options;
  const { prompt } = toQuestionField(
    { ...spec, choices: undefined, fields: undefined },
    { catalogue: undefined, locale: undefined },
  );
  return {
    ...options,
    // The author's own check may look at other answers.
    ...(options.ahead && { ahead: !validate }),
    ...(pattern !== undefined && { pattern: prompt.validation?.pattern ?? '' }),
    ...(prompt.schema && schema && { schema: prompt.schema }),
  };
}
