// Renames tools and prompts, from their names in the rest of the chain to those that clients use. A tool shown as `server__name`
// and renamed by the server's own name keeps the server as prefix.
import type { Origin, Step } from '../../../../protocol/step.ts';
import { toShortName } from '../../../../shared/short-name.ts';
import { mapNames } from './map-names.ts';
import { qualifiedName, toToolRules } from '../filter/name-rule.ts';
import type { MapEntry } from './map-names.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';

export interface RenameOptions {
  tools?: Record<string, string> | undefined;
  prompts?: Record<string, string> | undefined;
}

export function rename(options: RenameOptions): Step {
  const { tools, prompts } = withDefaults('rename', options, { tools: {}, prompts: {} });
  const toolRules = toToolRules(Object.keys(tools));
  return mapNames({ name: 'rename', tools: toMap('tools', tools), prompts: toMap('prompts', prompts), toolRules });
}

function toMap(area: string, given: Record<string, string>): MapEntry | undefined {
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
