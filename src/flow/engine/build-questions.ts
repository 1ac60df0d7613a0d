// The questions of a round, from what the body waits for.
import { toMs } from '../authoring/span.ts';
import { toRoundKey } from '../explore/exploration.ts';
import { toPromptId, toQuestionPin } from '../question/question.ts';
import type { Addressee, Complaint, Question } from '../question/question.ts';
import { toMistake } from './author-code.ts';
import type { CurrentRun } from './current-run.ts';
import type { PendingQuestion } from './pending-ask.ts';
import type { QuestionSpec } from './question-spec.ts';
import { toQuestionField, toQuestionFields, toConsentPin } from './question-spec.ts';
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { findAddressee } from '../fold.ts';

/** The largest number of questions in one form. */
const MAX_TOGETHER = 12;

/** The questions of a round, from what the body waits for. */
export function buildQuestions(
  run: CurrentRun,
  asks: PendingQuestion[],
  complaints: ReadonlyMap<string, Complaint>,
): Question[] {
  const asked = asks.map(({ spec }) => spec);
  const [only] = asked;
  // Most rounds are one question.
  if (only && asked.length === 1 && (only.options.alone || only.person || !run.input.next?.size)) {
    return [buildQuestion(run, only, complaints.get(only.key))];
  }
  const own = asked.filter(({ person }) => !person);
  const alone = own.find(({ options }) => options.alone);
  const specs = alone ? [alone] : own.length > 0 ? ahead(run, own) : [];
  return [...specs, ...asked.filter(({ person }) => person)].map((spec) =>
    buildQuestion(run, spec, complaints.get(spec.key)),
  );
}

/** Adds questions that follow whatever the answers are, if they have no answer yet. */
function ahead(run: CurrentRun, asked: QuestionSpec[]): QuestionSpec[] {
  const { next } = run.input;
  if (!next || next.size === 0) return asked;
  const first = next.get(toRoundKey(asked));
  if (!first) return asked;
  const specs = [...asked];
  const known = new Set([...run.replayQueue.unasked, ...specs.map(({ key }) => key)]);
  for (
    let round: QuestionSpec[] | undefined = first;
    round && specs.length < MAX_TOGETHER;
    round = next.get(toRoundKey(round))
  ) {
    specs.push(...round.filter(({ key }) => !known.has(key)));
    for (const { key } of round) known.add(key);
  }
  return specs;
}

function buildQuestion(run: CurrentRun, spec: QuestionSpec, complaint?: Complaint): Question {
  try {
    return readQuestion(run, spec, complaint);
  } catch (thrown) {
    throw toMistake(`the question ${spec.key}`, thrown);
  }
}

function readQuestion(run: CurrentRun, spec: QuestionSpec, complaint?: Complaint): Question {
  const { key, options } = spec;
  const { folded, flow, locale } = run.input;
  const localization = { catalogue: flow.options.messages, locale };
  const attempt = (folded.attempts.get(key) ?? 0) + 1;
  const { kind, prompt, label, help } = toQuestionField(spec, localization);
  const fields = spec.fields && toQuestionFields(spec.fields, localization);
  const pin = toQuestionPin({ kind, prompt, label, help, fields }, spec.loops);
  const question: Question = { promptId: toPromptId(key, attempt), key, attempt, kind, prompt, pin };
  if (label !== undefined) question.label = label;
  if (help !== undefined) question.help = help;
  if (fields) question.fields = fields;
  if (options.by) question.by = options.by;
  if (options.secret) question.secret = notDeclared(run, key);
  if (options.alone) question.alone = true;
  if (options.onCancel) question.onCancel = options.onCancel;
  if (options.onTimeout) question.onTimeout = options.onTimeout;
  if (options.deliver) question.deliver = options.deliver;
  if (options.timeout !== undefined)
    question.until = run.turn.now + toMs(options.timeout, `timeout of question ${key}`);
  if (run.progress) question.progress = run.progress;
  const { said, shown } = run.notes;
  if (said.length > shown) question.notes = said.slice(shown);
  // Why an argument, or an answer to an older version, does not fit.
  const why = complaint ?? (attempt === 1 ? run.refused.get(key) : undefined);
  if (why) question.complaint = why;
  if (spec.person) question.person = toAddressee(run, spec);
  const consent = toConsentPin(spec);
  if (consent !== undefined) question.consent = consent;
  return question;
}

/** A secret must not be a declared argument, because arguments are stored in the journal. */
function notDeclared({ input: { flow } }: CurrentRun, key: string): true {
  const declared = flow.input?.json['properties'];
  if (!isObject(declared) || !Object.hasOwn(declared, key)) return true;
  throw new GatewayError('FLOW_MISUSED', {
    flow: flow.name,
    reason: `the secret ${key} as an argument of its input; leave it out there`,
  });
}

/** The person is notified at once. */
function toAddressee({ input, turn }: CurrentRun, { key, person }: QuestionSpec): Addressee {
  return { ...person!, principal: findAddressee(input.folded.hands.get(key), person!.principal), tellAt: turn.now };
}
