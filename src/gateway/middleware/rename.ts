// Other names for tools and prompts: from what they are called further in to what clients call them.
import type { Step } from '../../protocol/step.ts';
import { mapNames } from './map-names.ts';
import type { MapEntry } from './name-table.ts';
import { badOption, withDefaults } from './step-options.ts';

export interface RenameOptions {
  tools?: Record<string, string> | undefined;
  prompts?: Record<string, string> | undefined;
}

export function rename(options: RenameOptions): Step {
  const { tools, prompts } = withDefaults('rename', options, { tools: {}, prompts: {} });
  return mapNames({ name: 'rename', tools: toMap('tools', tools), prompts: toMap('prompts', prompts) });
}

function toMap(area: string, given: Record<string, string>): MapEntry | undefined {
  const names = new Map(Object.entries(given));
  const wrong = [...names].find(([, name]) => typeof name !== 'string' || name === '');
  if (wrong) throw badOption(`rename.${area}.${wrong[0]}`, 'must be the new name');
  if (names.size === 0) return undefined;
  return function rename(entry) {
    const name = names.get(entry.name);
    return name === undefined ? entry : { ...entry, name };
  };
}
