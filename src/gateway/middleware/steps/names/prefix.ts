// The same letters before every tool and prompt. Names that would grow too long for clients are cut; since calls are found by
// a table and not by taking the prefix off, they still work.
import type { Origin, Step } from '../../../../protocol/step.ts';
import { toShortName } from '../../../../shared/short-name.ts';
import { mapNames } from './map-names.ts';
import { toNameRule, toToolRules } from '../filter/name-rule.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';

export interface PrefixOptions {
  prefix: string;
  /** Globs: which tools and prompts get it. Default: all. */
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
