// Arguments as a session may keep them. They come from a model: secrets among them go no further, and the bytes of files lie beside the
// journal, like those of files that were asked for.
import type { AnyFlow } from '../../define.ts';
import type { FoundQuestion } from '../../explore/exploration.ts';
import { toQuestionField } from '../../engine/question-spec.ts';
import type { Localization } from '../../engine/question-spec.ts';
import type { Header } from '../../journal.ts';
import { checkFileAnswer, isFileAnswer } from '../../question/check-file.ts';
import { isObject } from '../../../protocol/message.ts';
import { storeFile } from './secrets.ts';
import type { SessionContext } from '../session-context.ts';

export interface StoredArgs {
  args: Record<string, unknown>;
  /** Those that stand for a file which is kept. */
  files: ReadonlySet<string>;
}

/** A file that does not fit its question is left out, and asked for. */
export async function storeArgs(
  setup: SessionContext,
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
      given[key] = await storeFile(setup, session, value);
      files.add(key);
    }
  }
  return { args: given, files };
}

/** Those of which nothing is known: neither declared by the author nor found as a question that may be read. */
export function findUnknownArgs(flow: AnyFlow, { args }: StoredArgs, questions: readonly FoundQuestion[]): string[] {
  const declared = isObject(flow.input?.json['properties']) ? flow.input.json['properties'] : {};
  const known = new Set([...Object.keys(declared), ...questions.map(({ spec }) => spec.key)]);
  return Object.keys(args).filter((name) => !known.has(name));
}
