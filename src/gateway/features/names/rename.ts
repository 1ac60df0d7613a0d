// Shows tools and prompts under other names (`rename`, `prefix`) or with other descriptions (`describe`).
import type { Origin, Step } from '../../../kernel/step.ts';
import { toShortName } from '../../../kernel/base/short-name.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';
import { qualifiedName, toToolRules, toNameRule } from '../../matching/name-rule.ts';
import { mapNames } from '../../chain/map-names.ts';
import type { MapEntry } from '../../chain/name-table.ts';

interface RenameOptions {
  tools?: Record<string, string> | undefined;
  prompts?: Record<string, string> | undefined;
}

/**
 * Shows tools and prompts under other names: from those in the rest of the chain to those that clients use. A tool shown as
 * `server__name` and renamed by the server's own name keeps the server as prefix.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { rename } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [rename({ tools: { search: 'find_notes' } })] });
 * ```
 */
export function rename(options: RenameOptions): Step {
  const { tools, prompts } = withDefaults('rename', options, { tools: {}, prompts: {} });
  const toolRules = toToolRules(Object.keys(tools));
  return mapNames({
    name: 'rename',
    tools: toNewNames('tools', tools),
    prompts: toNewNames('prompts', prompts),
    toolRules,
  });
}

function toNewNames(area: string, given: Record<string, string>): MapEntry | undefined {
  const names = new Map(Object.entries(given));
  const wrong = [...names].find(([, name]) => typeof name !== 'string' || name === '');
  if (wrong) throw badOption(`rename.${area}.${wrong[0]}`, 'must be the new name');
  if (names.size === 0) return undefined;
  return function rename(entry, origin) {
    const name = names.get(entry.name) ?? (origin && newName(entry.name, origin, names));
    return name === undefined ? entry : { ...entry, name };
  };
}

function newName(shown: string, origin: Origin, names: ReadonlyMap<string, string>): string | undefined {
  const qualified = names.get(qualifiedName(origin));
  if (qualified !== undefined) return qualified;
  const own = names.get(origin.name);
  if (own === undefined) return undefined;
  const isQualified = shown === toShortName(qualifiedName(origin));
  return isQualified ? toShortName(qualifiedName({ ...origin, name: own })) : own;
}

interface PrefixOptions {
  prefix: string;
  /** Globs: the tools and prompts that get it. Default: all. */
  only?: string[] | undefined;
}

/**
 * Adds a prefix to the names of tools and prompts. Names that become too long for clients are cut; calls still work, because a
 * table maps them back.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { prefix } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [prefix('team_')] });
 * ```
 */
export function prefix(options: string | PrefixOptions): Step {
  const given: PrefixOptions = typeof options === 'string' ? { prefix: options } : options;
  const { prefix: before, only } = withDefaults('prefix', given, { prefix: '', only: ['*'] });
  if (before === '') throw badOption('prefix', 'must have at least one character');
  const isMeant = toNameRule(only);
  function prefix<T extends { name: string }>(entry: T, origin?: Origin): T {
    return isMeant(entry.name, origin) ? { ...entry, name: toShortName(`${before}${entry.name}`) } : entry;
  }
  return mapNames({ name: 'prefix', tools: prefix, prompts: prefix, toolRules: toToolRules(only, { isForAll: true }) });
}

/** By name or glob; the first match counts. */
interface DescribeOptions {
  tools?: Record<string, string> | undefined;
  prompts?: Record<string, string> | undefined;
}

/**
 * Changes the descriptions of tools and prompts, by which models choose. `{description}` stands for the server's own.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { describe } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [describe({ tools: { 'delete_*': '{description} Cannot be undone.' } })] });
 * ```
 */
export function describe(options: DescribeOptions): Step {
  const { tools, prompts } = withDefaults('describe', options, { tools: {}, prompts: {} });
  const toolRules = toToolRules(Object.keys(tools));
  return mapNames({
    name: 'describe',
    tools: toNewTexts('tools', tools),
    prompts: toNewTexts('prompts', prompts),
    toolRules,
  });
}

function toNewTexts(area: string, given: Record<string, string>): MapEntry | undefined {
  const texts = Object.entries(given).map(([pattern, text]) => {
    if (typeof text !== 'string') throw badOption(`describe.${area}.${pattern}`, 'must be a string');
    return { fits: toNameRule([pattern]), text };
  });
  if (texts.length === 0) return undefined;
  return function describe(entry, origin) {
    const text = texts.find(({ fits }) => fits(entry.name, origin))?.text;
    if (text === undefined) return entry;
    const own = typeof entry.description === 'string' ? entry.description : '';
    return { ...entry, description: text.replaceAll('{description}', () => own) };
  };
}
