// Holds back definitions that have changed since they were first seen, until a person accepts them.
import { isCommandAddress } from '../../../mcp/connect/address.ts';
import { addressText } from '../../../mcp/connect/address-text.ts';
import { defineFeature } from '../feature.ts';
import type { OpenedServer } from '../feature.ts';
import { toPinPolicy } from './pin-policy.ts';
import { SHARED_PINS } from './shared-pins.ts';
import type { PinOption } from './pin-policy.ts';

export interface PinsFeatureOptions {
  /**
   * What happens when a server changes a definition after it was first seen. Default: `destructive` if there is a `stateFolder` or a
   * shared `state` to keep pins in, else `off`.
   */
  pins?: PinOption | undefined;
}

export interface PinSettings {
  /** What happens when a definition changes after it was first seen. Default: that of the gateway. */
  pins?: PinOption | undefined;
}

export const pins = defineFeature<PinsFeatureOptions>({
  name: 'pins',
  create({ pins: given, stateFolder, name = 'mcp-parley', pairedAs: gateway = name }, { events, clock, state }) {
    let forAll = given;
    const isKept = stateFolder !== undefined || state.isShared;
    const place = state.isShared ? { state, gateway: SHARED_PINS, stateFolder: undefined } : { gateway, stateFolder };
    const own = { state, stateFolder, gateway };
    const policyOf = ({ settings, isPerUser }: Omit<OpenedServer, 'held'>) => {
      const option = (settings as PinSettings).pins ?? forAll;
      return toPinPolicy(option ?? (isKept ? 'destructive' : 'off'), isPerUser);
    };
    return {
      held(server) {
        const { address, isPerUser } = server;
        const policy = policyOf(server);
        const command = isCommandAddress(address) ? address : undefined;
        const whose = { ...place, address: addressText(address), command, isPerUser, clock, events };
        return (
          policy &&
          (async (around) => new (await import('./pinned-lists.ts')).PinnedLists({ ...whose, ...around, policy }))
        );
      },
      waitingDefinitions: async () => (await import('./waiting-definitions.ts')).listWaiting(own),
      accept: async (shown) => (await import('./waiting-definitions.ts')).acceptWaiting(shown, own),
      update(next: PinsFeatureOptions) {
        if (!('pins' in next)) return undefined;
        forAll = next.pins;
        return 'servers';
      },
      checkpoint() {
        const before = forAll;
        return {
          undo: () => {
            forAll = before;
          },
        };
      },
    };
  },
});
