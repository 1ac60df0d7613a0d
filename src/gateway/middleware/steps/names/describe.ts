// Changes the descriptions of tools and prompts, by which models choose. `{description}` stands for the server's own.
import type { Step } from '../../../../protocol/step.ts';
import { mapNames } from './map-names.ts';
import { toNameRule, toToolRules } from '../filter/name-rule.ts';
import type { MapEntry } from './map-names.ts';
import { badOption, withDefaults } from '../../chain/step-options.ts';

/** By name or glob; the first match counts. */
export interface DescribeOptions {
  tools?: Record<string, string> | undefined;
  prompts?: Record<string, string> | undefined;
}

export function describe(options: DescribeOptions): Step {
  const { tools, prompts } = withDefaults('describe', options, { tools: {}, prompts: {} });
  const toolRules = toToolRules(Object.keys(tools));
  return mapNames({ name: 'describe', tools: toMap('tools', tools), prompts: toMap('prompts', prompts), toolRules });
}

function toMap(area: string, given: Record<string, string>): MapEntry | undefined {
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
