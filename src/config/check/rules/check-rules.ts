// Finds words in rules that cannot match: misspelled words of `approve`, and unknown servers. They are warnings, as any word may be the
// name of a tool.
import { isGlob } from '../../../gateway/middleware/steps/filter/glob.ts';
import type { ConfigPath, ConfigProblems } from '../config-problems.ts';
import type { ConfigInput, ServerInput } from '../schema.ts';
import { splitStep } from '../../normalize-step.ts';
import { suggest } from '../suggest.ts';

interface Pattern {
  path: ConfigPath;
  text: string;
}

const APPROVE_WORDS = ['destructive', 'always'];
/** Steps whose option keys are names or globs. */
const BY_NAME = new Set(['fixed', 'defaults']);

export interface RuledServer {
  name: string;
  path: ConfigPath;
  server: ServerInput;
}

export function checkRules(config: ConfigInput, servers: readonly RuledServer[], problems: ConfigProblems): void {
  const names = [...new Set(servers.map(({ name }) => name))];
  const written = (config.steps ?? []).flatMap((step, index) => (step === undefined ? [] : stepPatterns(step, index)));
  const own = servers.flatMap(({ path, server }) => patternsIn(server.tools, [...path, 'tools']));
  for (const { path, text } of [...written, ...own]) {
    checkWord(path, text, problems);
    checkServerOf(path, text, names, problems);
  }
}

function stepPatterns(step: string | Record<string, unknown>, index: number): Pattern[] {
  const { name, options } = splitStep(step);
  const path: ConfigPath = ['steps', index, name];
  if (BY_NAME.has(name)) return Object.keys(options).map((text) => ({ path: [...path, text], text }));
  if (name === 'rename' || name === 'describe') {
    return ['tools', 'prompts'].flatMap((area) =>
      Object.keys(options[area] ?? {}).map((text) => ({ path: [...path, area, text], text })),
    );
  }
  if (name === 'approve') return patternsIn({ when: options.when }, path);
  return name === 'filter' || name === 'timeout' ? patternsIn(options, path) : [];
}

/** All texts in the value, with their paths. */
function patternsIn(value: unknown, path: ConfigPath): Pattern[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    patternsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function checkWord(path: ConfigPath, text: string, problems: ConfigProblems): void {
  if (!path.includes('approve') || isGlob(text) || APPROVE_WORDS.includes(text)) return;
  const meant = suggest(text, APPROVE_WORDS);
  if (meant === undefined) return;
  problems.warn(path, `"${text}" is taken for the name of a tool`, `Did you mean "${meant}"?`);
}

function checkServerOf(path: ConfigPath, text: string, servers: readonly string[], problems: ConfigProblems): void {
  const [server, ...rest] = text.split('__');
  if (rest.length === 0 || server === undefined || server === '' || isGlob(server) || servers.includes(server)) return;
  const meant = suggest(server, servers);
  if (meant === undefined) return;
  problems.warn(path, `no server is called "${server}", so this rule matches nothing`, `Did you mean "${meant}"?`);
}
