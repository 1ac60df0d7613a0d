// Arguments as a session may keep them. They come from a model: secrets among them go no further, and the bytes of files lie beside the
// journal, like those of files that were asked for.
import type { FoundQuestion } from '../explore/explore.ts';
import { toField } from '../engine/spec.ts';
import type { Tongue } from '../engine/spec.ts';
import { PREFILLED } from '../journal.ts';
import type { AnswerEntry } from '../journal.ts';
import { checkFile, isFileAnswer } from '../question/check-file.ts';
import { keepFile } from './secrets.ts';
import type { Setup } from './setup.ts';

export interface GivenArgs {
  args: Record<string, unknown>;
  /** Those that stand for a file which is kept. */
  files: ReadonlySet<string>;
}

/** A file that does not fit its question is left out, and asked for. */
export async function toGivenArgs(
  setup: Setup,
  args: Record<string, unknown>,
  { sessionId, questions, tongue }: { sessionId: string; questions: readonly FoundQuestion[]; tongue: Tongue },
): Promise<GivenArgs> {
  const given = { ...args };
  const files = new Set<string>();
  for (const { spec } of questions) {
    const { key } = spec;
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (value === undefined) continue;
    if (spec.options.secret) delete given[key];
    if (spec.kind !== 'file') continue;
    if (!isFileAnswer(value) || checkFile(value, toField(spec, tongue))) delete given[key];
    else {
      given[key] = await keepFile(setup, sessionId, value);
      files.add(key);
    }
  }
  return { args: given, files };
}

/** An argument that is named like a question answers it, when it comes. */
export function toPrefilled({ args, files }: GivenArgs, ts: number): AnswerEntry[] {
  return Object.entries(args)
    .filter(([, v]) => v !== undefined && v !== null)
    .map(([k, v]) => ({ t: 'ans', k, a: 0, ty: files.has(k) ? 'file' : PREFILLED, v, src: 'args', via: 'args', ts }));
}
