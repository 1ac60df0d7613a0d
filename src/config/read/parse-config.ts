// Parses a configuration, with the position of every key and value. JSON may have comments and trailing commas. YAML and TOML are
// recognized by the name of the file, or by its beginning.
import { parseJson, ConfigSyntaxError } from './parse-json.ts';
import { parseToml } from './parse-toml.ts';
import { parseYaml } from './parse-yaml.ts';
import { SourcePositions } from './source-positions.ts';
import { ConfigProblems } from '../check/config-problems.ts';

export interface ParsedConfig {
  /** Undefined if the text cannot be parsed. */
  value: Record<string, unknown> | undefined;
  places: SourcePositions;
  problems: ConfigProblems;
}

export function parseConfig(text: string, path: string): ParsedConfig {
  const places = new SourcePositions(text);
  const problems = new ConfigProblems(places);
  try {
    return { value: toObject(read(text, path, { places, problems }), problems), places, problems };
  } catch (thrown) {
    if (!(thrown instanceof ConfigSyntaxError)) throw thrown;
    problems.ofText(places.at(thrown.offset), thrown.message, thrown.hint);
    return { value: undefined, places, problems };
  }
}

function read(
  text: string,
  path: string,
  { places, problems }: { places: SourcePositions; problems: ConfigProblems },
): unknown {
  if (isToml(text, path)) return parseToml(text, places);
  return isYaml(text, path) ? parseYaml(text, places) : readJson(text, places, problems);
}

function isToml(text: string, path: string): boolean {
  return (
    /\.toml$/i.test(path) ||
    (!/\.(jsonc?|ya?ml)$/i.test(path) && /^\s*\[[\w."-]+\]\s*$/m.test(text) && !/^\s*\{/.test(text))
  );
}

/** By the name of the file, else by its first character. */
function isYaml(text: string, path: string): boolean {
  if (/\.ya?ml$/i.test(path)) return true;
  return !/\.jsonc?$/i.test(path) && !/^\s*[{/]/.test(text);
}

function readJson(text: string, places: SourcePositions, problems: ConfigProblems): unknown {
  if (/^\s*$/.test(text)) throw new ConfigSyntaxError(0, 'the file is empty', 'Start with { "mcpServers": { … } }.');
  const { value, duplicates } = parseJson(text, places);
  for (const { path } of duplicates) {
    problems.ofKey(path, { message: 'this key is here twice', hint: 'Keep one of the two.' });
  }
  return value;
}

function toObject(value: unknown, problems: ConfigProblems): Record<string, unknown> | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  problems.error([], 'a configuration is an object', 'Start with { "mcpServers": { … } }.');
  return undefined;
}
