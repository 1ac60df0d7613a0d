// The findings of exploring a flow: plain JSON, as another process finds them, and the file format of `parley explore`, which `serveFlows`
// reads.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../../kernel/message.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { AnyFlow } from '../define.ts';
import type { QuestionSpec } from '../engine/question-spec.ts';

export interface FoundQuestion {
  /** Without functions, and without parts that depend on made-up answers. */
  spec: QuestionSpec;
  /** Asked on every path through the body. */
  always: boolean;
}

export interface Exploration {
  questions: FoundQuestion[];
  /** By the keys of a round: the questions that always follow it and may be asked with it. */
  next: ReadonlyMap<string, QuestionSpec[]>;
  /** Where paths stopped before the end of the body. */
  stops: readonly Stop[];
}

export const NOTHING_FOUND: Exploration = { questions: [], next: new Map(), stops: [] };

export function toRoundKey(specs: readonly Pick<QuestionSpec, 'key'>[]): string {
  return specs.map(({ key }) => key).join(' ');
}

/** Where and why a path through a body stopped early. Clients do not learn what comes after it, so the author should know. */
export interface Stop {
  why: 'consent' | 'person' | 'result' | 'wait' | 'rounds' | 'failed' | 'stalled';
  /** Key of the question, step, sleep or event. */
  key?: string | undefined;
  /** The author's line: path, line and column. */
  where?: string | undefined;
  /** The message of what the body threw. */
  error?: string | undefined;
}

const REASONS: Record<Stop['why'], (key: string) => string> = {
  consent: (key) => `at the question ${key}: consent is never made up`,
  person: (key) => `at the question ${key}: it is for another person`,
  result: (key) => `after the step ${key}: its result is looked at, and no step is run`,
  wait: (key) => `at ${key}: it waits, and time does not pass`,
  rounds: (key) => `at the question ${key}: it was asked too often`,
  failed: () => 'since the body threw',
  stalled: () => 'since the body waits for something other than a question or a step',
};

export function describeStop({ why, key = '', where, error }: Stop): string {
  const place = where === undefined ? '' : ` (${toShortPlace(where)})`;
  return `${REASONS[why](key)}${error === undefined ? '' : `: ${error}`}${place}`;
}

/** Removes duplicates. */
export function uniqueStops(stops: readonly Stop[]): Stop[] {
  return [...new Map(stops.map((stop) => [JSON.stringify(stop), stop])).values()];
}

function toShortPlace(where: string): string {
  const short = relative(process.cwd(), where);
  return short.startsWith('..') ? where : short;
}

const FORMAT = 'mcp-parley/explored@1';
/** Stale files that were already logged, as one file may serve many sessions. */
const told = new WeakSet<ExploredFlow>();

/** The questions of flows, found by exploring. Plain JSON. */
export interface ExploredFlows {
  format: string;
  flows: ExploredFlow[];
}

export interface ExploredFlow {
  name: string;
  /** The explored function: the author's version and a hash of its source. */
  version: string;
  questions: (QuestionSpec & { always: boolean })[];
  /** By the keys of a round: the keys of the questions that may be asked with it. */
  next: Record<string, string[]>;
}

/** The findings, or the file that has them; several if flows come from several files. */
export type ExploredOption = ExploredFlows | string | URL | readonly (ExploredFlows | string | URL)[];

export function toExploredFlows(found: readonly { flow: AnyFlow; explored: Exploration }[]): ExploredFlows {
  return {
    format: FORMAT,
    flows: found.map(({ flow: { name, version }, explored: { questions, next } }) => ({
      name,
      version,
      questions: withoutTurns(questions, next).map(({ spec, always }) => ({ ...spec, always })),
      next: Object.fromEntries([...next].map(([key, specs]) => [key, specs.map((spec) => spec.key)])),
    })),
  };
}

/** Lists only the first question of a loop, and those that may be asked ahead. */
function withoutTurns(questions: readonly FoundQuestion[], next: Exploration['next']): FoundQuestion[] {
  const ahead = new Set([...next.values()].flat().map(({ key }) => key));
  return questions.filter(({ spec: { key } }) => !key.includes('#') || ahead.has(key));
}

/** A missing file is a warning, and the flows are served without it. Any other file is an error. */
export function readExplored(option: ExploredOption | undefined, log: Log): ExploredFlows[] {
  if (option === undefined) return [];
  const all = Array.isArray(option) ? (option as (ExploredFlows | string | URL)[]) : [option];
  return all.flatMap((one): ExploredFlows[] =>
    typeof one === 'string' || one instanceof URL ? readFile(one, log) : [checked(one)],
  );
}

function readFile(place: string | URL, log: Log): ExploredFlows[] {
  const path = typeof place === 'string' ? place : fileURLToPath(place);
  if (!existsSync(path)) {
    log.warn({ file: path, advice: 'Write it with "parley explore"' }, 'flow.explored-missing');
    return [];
  }
  try {
    return [checked(JSON.parse(readFileSync(path, 'utf8')), path)];
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw bad(path, (thrown as Error).message.replaceAll(/\s+/g, ' '));
  }
}

function checked(value: unknown, path = 'explored'): ExploredFlows {
  if (!isObject(value) || value['format'] !== FORMAT || !Array.isArray(value['flows'])) {
    throw bad(path, `is not what "parley explore" of this version writes (${FORMAT}); write it again`);
  }
  return value as unknown as ExploredFlows;
}

function bad(option: string, reason: string): GatewayError {
  return new GatewayError('BAD_OPTION', { option, reason });
}

/**
 * The findings for a flow. The author's version must match. Without a version, a changed source may mean other questions or only a
 * compiler, so the questions are listed but asked one at a time.
 */
export function toExplored(flow: AnyFlow, files: readonly ExploredFlows[], log: Log): Exploration {
  const found = files.flatMap(({ flows }) => flows).find(({ name }) => name === flow.name);
  if (!found || flow.options.explore === false) return NOTHING_FOUND;
  const isSame = found.version === flow.version;
  const own = flow.options.version;
  const tell = (level: 'warn' | 'info', event: string, advice: string): void => {
    if (!told.has(found)) log[level]({ tool: flow.name, explored: found.version, served: flow.version, advice }, event);
    told.add(found);
  };
  if (!isSame && own !== versionOf(found)) {
    tell('warn', 'flow.explored-stale', 'Run "parley explore" again');
    return NOTHING_FOUND;
  }
  const questions = found.questions.map(({ always, ...spec }) => ({ spec, always }));
  if (isSame || own !== undefined) return { questions, next: toNext(found), stops: [] };
  tell(
    'info',
    'flow.explored-other-source',
    'Its questions are asked one at a time: explore it again, or give it a version',
  );
  return { questions, next: new Map(), stops: [] };
}

/** The author's part of the version. */
function versionOf({ version }: ExploredFlow): string | undefined {
  return version.slice(0, version.lastIndexOf('.')) || undefined;
}

function toNext({ questions, next }: ExploredFlow): Map<string, QuestionSpec[]> {
  const specs = new Map<string, QuestionSpec>(questions.map(({ always: _, ...spec }) => [spec.key, spec]));
  return new Map(
    Object.entries(next).map(([key, keys]) => [key, keys.flatMap((name) => specs.get(name) ?? [])] as const),
  );
}
