// Arguments as the journal has them. They come from a model, so secrets among them are dropped, and files go to the blob store, like files
// that a question asked for. Arguments that no known question asks for are sealed, because one of them may turn out to be a secret. They
// are opened whenever the session is loaded; if the keys are gone, it continues without them.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { AnyFlow } from '../../define.ts';
import { toQuestionField } from '../../engine/question-spec.ts';
import type { Localization } from '../../engine/question-spec.ts';
import type { FoundQuestion } from '../../explore/exploration.ts';
import { PREFILLED } from '../../journal.ts';
import type { Header, AnswerEntry, JournalEntry, StartEntry } from '../../journal.ts';
import { checkFileAnswer, isFileAnswer } from '../../question/check-answer.ts';
import type { StoredSession } from '../../store/store.ts';
import type { SessionContext } from '../context/session-context.ts';
import { storeFile } from './secrets.ts';

export interface StoredArgs {
  args: Record<string, unknown>;
  /** Names of the arguments that refer to a stored file. */
  files: ReadonlySet<string>;
}

/** A file that does not fit its question is dropped, so that the question is asked. */
export async function storeArgs(
  context: SessionContext,
  args: Record<string, unknown>,
  {
    session,
    questions,
    localization,
  }: { session: Header; questions: readonly FoundQuestion[]; localization: Localization },
): Promise<StoredArgs> {
  const given = { ...args };
  const files = new Set<string>();
  for (const { spec } of questions) {
    const { key } = spec;
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (value === undefined) continue;
    if (spec.options.secret) delete given[key];
    if (spec.kind !== 'file') continue;
    if (!isFileAnswer(value) || checkFileAnswer(value, toQuestionField(spec, localization))) delete given[key];
    else {
      given[key] = await storeFile(context, session, value);
      files.add(key);
    }
  }
  return { args: given, files };
}

/** The arguments that are neither declared nor the key of a known question. */
export function findUnknownArgs(flow: AnyFlow, { args }: StoredArgs, questions: readonly FoundQuestion[]): string[] {
  const declared = isObject(flow.input?.json['properties']) ? flow.input.json['properties'] : {};
  const known = new Set([...Object.keys(declared), ...questions.map(({ spec }) => spec.key)]);
  return Object.keys(args).filter((name) => !known.has(name));
}

const PURPOSE = 'flow-args';
/** The member of `input` that holds the sealed arguments; no argument has this name. */
const HELD = '$held';

/** The entries of a new session as they are stored. `start.held` names the arguments to seal. */
export function sealUnaskedArgs(
  { sealer }: SessionContext,
  sessionId: string,
  entries: JournalEntry[],
): JournalEntry[] {
  const [start, ...rest] = entries;
  if (start?.t !== 'start' || start.held === undefined) return entries;
  const { held, input, ...about } = start;
  const isHeld = (name: string) => held.includes(name);
  const args = rest.flatMap((entry) => (isArgument(entry) && isHeld(entry.k) ? [[entry.k, entry.v] as const] : []));
  const inputs = Object.entries(isObject(input) ? input : {});
  const sealed = sealer.seal(PURPOSE, sessionId, {
    args: Object.fromEntries(args),
    input: Object.fromEntries(inputs.filter(([name]) => isHeld(name))),
  });
  const clear = Object.fromEntries(inputs.filter(([name]) => !isHeld(name)));
  const kept = rest.filter((entry) => !(isArgument(entry) && isHeld(entry.k)));
  return [{ ...about, input: isObject(input) ? { ...clear, [HELD]: sealed } : input }, ...kept];
}

function isArgument(entry: JournalEntry): entry is AnswerEntry {
  return entry.t === 'ans' && entry.ty === PREFILLED;
}

/** The session with its sealed arguments opened. */
export function openSealedArgs({ sealer }: SessionContext, stored: StoredSession): StoredSession {
  const [start] = stored.entries;
  const sealed = start?.t === 'start' && isObject(start.input) ? start.input[HELD] : undefined;
  if (typeof sealed !== 'string') return stored;
  const { input, ...about } = start as StartEntry;
  const { [HELD]: _, ...clear } = input as JsonObject;
  const opened = sealer.open(PURPOSE, stored.header.id, sealed);
  const held = (isObject(opened) ? opened : { args: {}, input: {} }) as { args: JsonObject; input: JsonObject };
  const whole: StartEntry = { ...about, input: { ...clear, ...held.input } };
  return { ...stored, entries: [whole, ...toPrefilled(held.args, start!.ts), ...stored.entries.slice(1)] };
}

/** Whether there are sealed arguments that these keys do not open. */
export function hasUnopenableArgs(
  { sealer }: Pick<SessionContext, 'sealer'>,
  { header, entries: [start] }: StoredSession,
): boolean {
  const sealed = start?.t === 'start' && isObject(start.input) ? start.input[HELD] : undefined;
  return typeof sealed === 'string' && !isObject(sealer.open(PURPOSE, header.id, sealed));
}

/** An argument with the key of a question answers it when it is asked. */
export function toPrefilled(args: JsonObject, ts: number, files: ReadonlySet<string> = new Set()): AnswerEntry[] {
  return Object.entries(args)
    .filter(([, v]) => v !== undefined && v !== null)
    .map(([k, v]) => ({ t: 'ans', k, a: 0, ty: files.has(k) ? 'file' : PREFILLED, v, src: 'args', via: 'args', ts }));
}
