// The checks of what a wrapped server lists.
import { DefinitionChecks } from '../../../gateway/features/list-checks/definition-checks.ts';
import { pinsOfWrapped } from '../../../gateway/features/pins/pins-of-wrapped.ts';
import type { EventHub } from '../../../kernel/events/event-hub.ts';
import type { WrapCommand } from '../../args/serving-commands.ts';
import { createCliLog } from '../../terminal/cli-log.ts';

interface Around {
  name: string;
  events: EventHub | undefined;
}

export function createWrapChecks(command: WrapCommand, around: Around): DefinitionChecks {
  return new DefinitionChecks({
    server: around.name,
    servers: () => [around.name],
    log: createCliLog(command.log ?? 'warn'), // what it says is about safety
    held: pinsOfWrapped(command, around),
  });
}
