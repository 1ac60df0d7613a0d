// Text → plain value, with the place of everything in it. JSON may have comments and trailing commas.
import { parseJson, Unreadable } from './parse-json.ts';
import { parseYaml } from './parse-yaml.ts';
import { Places } from './places.ts';
import { Problems } from './problems.ts';

export interface Parsed {
  /** Undefined when the text cannot be read. */
  value: Record<string, unknown> | undefined;
  places: Places;
  problems: Problems;
}

export function parseConfig(text: string, path: string): Parsed {
  const places = new Places(text);
  const problems = new Problems(places);
  try {
    if (isToml(text, path)) throw new Unreadable(0, 'this is TOML, as Codex writes it', TOML_HINT);
    const value = isYaml(text, path) ? parseYaml(text, places) : readJson(text, places, problems);
    return { value: toObject(value, problems), places, problems };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    problems.ofText(places.at(thrown.offset), thrown.message, thrown.hint);
    return { value: undefined, places, problems };
  }
}

const TOML_HINT =
  'Parley reads JSON and YAML: write the servers under [mcp_servers] to parley.config.yaml, as mcpServers with the same keys.';

function isToml(text: string, path: string): boolean {
  return (
    /\.toml$/i.test(path) ||
    (!/\.(jsonc?|ya?ml)$/i.test(path) && /^\s*\[[\w."-]+\]\s*$/m.test(text) && !/^\s*\{/.test(text))
  );
}

/** By its name; where that says nothing, by its first character. */
function isYaml(text: string, path: string): boolean {
  if (/\.ya?ml$/i.test(path)) return true;
  return !/\.jsonc?$/i.test(path) && !/^\s*[{/]/.test(text);
}

function readJson(text: string, places: Places, problems: Problems): unknown {
  if (/^\s*$/.test(text)) throw new Unreadable(0, 'the file is empty', 'Start with { "mcpServers": { … } }.');
  const { value, duplicates } = parseJson(text, places);
  for (const { path } of duplicates) {
    problems.ofKey(path, { message: 'this key stands here twice', hint: 'Keep one of the two.' });
  }
  return value;
}

function toObject(value: unknown, problems: Problems): Record<string, unknown> | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  problems.error([], 'a configuration is an object', 'Start with { "mcpServers": { … } }.');
  return undefined;
}
