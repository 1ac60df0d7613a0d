// Prepares arguments for the journal. They come from a model, so secrets among them are dropped. Files go to the blob store, like files that
// a question asked for.
import type { AnyFlow } from '../../define.ts';
import type { FoundQuestion } from '../../explore/exploration.ts';
import { toQuestionField } from '../../engine/question-spec.ts';
import type { Localization } from '../../engine/question-spec.ts';
import type { Header } from '../../journal.ts';
import { checkFileAnswer, isFileAnswer } from '../../question/check-answer.ts';
import { isObject } from '../../../protocol/message.ts';
import { storeFile } from './secrets.ts';
import type { SessionContext } from '../session-context.ts';

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
