// Checks what servers list, and holds back definitions that have changed since they were first seen.
import { ServerChecks } from '../list-checks/server-checks.ts';
import { defineFeature } from '../feature.ts';
import type { PinOption } from './pin-policy.ts';

export interface PinsFeatureOptions {
  /**
   * What happens when a server changes a definition after it was first seen. Default: `destructive` if there is a `stateFolder` to
   * keep pins in, else `off`.
   */
  pins?: PinOption | undefined;
}

export interface PinSettings {
  /** What happens when a definition changes after it was first seen. Default: that of the gateway. */
  pins?: PinOption | undefined;
}

export const pins = defineFeature<PinsFeatureOptions>({
  name: 'pins',
  create(options, { audit, clock, gateway }) {
    const checks = new ServerChecks({ ...options, audit });
    return {
      opening: ({ name, address, settings, isPerUser, log }) => {
        const server = { name, address, isPerUser, servers: () => gateway.servers, log, clock };
        return { definitions: checks.of(server, (settings as PinSettings).pins) };
      },
      update(next: PinsFeatureOptions) {
        if (!('pins' in next)) return undefined;
        checks.pins = next.pins;
        return 'servers';
      },
      checkpoint: () => checks.checkpoint(),
      close: () => checks.close(),
    };
  },
});
