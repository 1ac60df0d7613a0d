// The `ask` of one run.
import { AskError } from '../authoring/ask-failure.ts';
import type { Ask } from '../authoring/ask.ts';
import type { FormFields } from '../authoring/fields.ts';
import type { ChoiceOption } from '../authoring/options.ts';
import { toMs } from '../authoring/span.ts';
import type { Span } from '../authoring/span.ts';
import type { StepContext, StepOptions } from '../authoring/step.ts';
import { GatewayError } from '../../shared/errors.ts';
import { toNumber, toUuid } from './entropy.ts';
import type { Run } from './run.ts';
import type { Wording } from './spec.ts';
import type { Kind } from '../question/question.ts';

export function createAsk(run: Run): Ask {
  return { ...questions(run), ...work(run), ...world(run), ...facts(run) } as unknown as Ask;
}

function questions(run: Run) {
  const plain =
    (kind: Kind) =>
    (key: string, options: Wording = {}) =>
      run.ask({ key: checked(key), kind, options });
  const chosen =
    (kind: Kind) =>
    (key: string, choices: readonly ChoiceOption[], options: Wording = {}) =>
      run.ask({ key: checked(key), kind, options, choices });
  return {
    text: plain('text'),
    number: plain('number'),
    confirm: plain('confirm'),
    date: plain('date'),
    file: plain('file'),
    custom: plain('custom'),
    choice: chosen('choice'),
    choices: chosen('choices'),
    form: (key: string, fields: FormFields, options: Wording = {}) =>
      run.ask({ key: checked(key), kind: 'form', options, fields }),
  };
}

function work(run: Run) {
  return {
    step: (key: string, work: (step: StepContext) => unknown, options: StepOptions<unknown> = {}) =>
      run.ask({ key: checked(key), kind: 'step', work, options }),
    sleep: (key: string, span: Span) =>
      run.ask({
        key: checked(key),
        kind: 'step',
        work: () => undefined,
        options: {},
        sleepMs: toMs(span, 'ask.sleep'),
      }),
    try: async (question: Promise<unknown>) => {
      try {
        return { ok: true, value: await question };
      } catch (thrown) {
        if (thrown instanceof AskError) return { ok: false, reason: thrown.reason };
        throw thrown;
      }
    },
  };
}

function world(run: Run) {
  return {
    progress: (current: number, total?: number, message?: string) => {
      run.progress = { current, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
    },
    note: (text: string) => void run.notes.push(text),
    now: () => run.time,
    today: () => new Date(run.time).toISOString().slice(0, 10),
    random: () => toNumber(run.bytes(7)),
    uuid: () => toUuid(run.bytes(16)),
    version: (id: string) => version(run, id),
  };
}

function facts({ input }: Run) {
  const { start } = input.folded;
  return {
    locale: input.locale,
    session: Object.freeze({ id: input.sessionId, startedAt: start.ts, context: start.context }),
    client: Object.freeze({ ...start.client }),
  };
}

/** The first to come by with nothing left to be told takes the new way, and that is written down. */
function version(run: Run, id: string): boolean {
  const { versions } = run.input.folded;
  const known = versions.get(id);
  if (known !== undefined) return known;
  const on = !run.telling.isReplaying;
  if (on) {
    versions.set(id, on);
    run.add({ t: 'ver', id, on, ts: run.input.now });
  }
  return on;
}

/** `~` and `#` are the engine's own. */
function checked(key: string): string {
  if (typeof key === 'string' && key !== '' && !/[~#\0]/.test(key) && key.length <= 200) return key;
  throw new GatewayError('FLOW_MISUSED', {
    reason: `the key ${JSON.stringify(key)}; use a plain name without ~ and #`,
  });
}
