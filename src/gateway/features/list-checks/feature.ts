// Checks what servers list: malformed entries, hidden characters, names that pose as others, and what another feature holds back.
import { defineFeature } from '../feature.ts';
import { DefinitionChecks } from './definition-checks.ts';
import { KnownNames } from './listed-names.ts';

export const listChecks = defineFeature<object>({
  name: 'list checks',
  create(_options, { gateway }) {
    const names = new KnownNames();
    let byServer = new Map<string, DefinitionChecks>();
    return {
      /** The former checks of a server go on until the checkpoint is kept. */
      opening({ name, log, held }) {
        const definitions = new DefinitionChecks({ server: name, servers: () => gateway.servers, log, names, held });
        byServer.set(name, definitions);
        return { definitions };
      },
      checkpoint() {
        const before = new Map(byServer);
        return {
          undo() {
            closeReplaced(byServer, before);
            byServer = before;
          },
          keep: () => closeReplaced(before, byServer),
        };
      },
      close() {
        for (const checks of byServer.values()) checks.close();
      },
    };
  },
});

function closeReplaced(checks: ReadonlyMap<string, DefinitionChecks>, by: ReadonlyMap<string, DefinitionChecks>): void {
  for (const [name, one] of checks) if (by.get(name) !== one) one.close();
}
