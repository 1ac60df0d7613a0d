// Adds a prefix to the names of tools and prompts. Names that become too long for clients are cut; calls still work, because a
// table maps them back.
import type { Origin, Step } from '../../../../protocol/step.ts';
import { toShortName } from '../../../../shared/short-name.ts';
import { mapNames } from './map-names.ts';
import { toNameRule, toToolRules } from '../filter/name-rule.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';

export interface PrefixOptions {
  prefix: string;
  /** Globs: the tools and prompts that get it. Default: all. */
  only?: string[] | undefined;
}

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
