// The sessions in the store of `flows` of a configuration, for the console of `parley serve`; what reads them is loaded when somebody looks.
import type { FlowsConfig } from '../../../config/config.ts';
import type { FlowDesk } from '../../../kernel/flow/flow-desk.ts';

/** `config`: as it is at the moment. */
export function lateFlowDesk(config: () => FlowsConfig | undefined): FlowDesk {
  let loaded: Promise<FlowDesk> | undefined;
  const load = (): Promise<FlowDesk> =>
    (loaded ??= import('./stored-flow-sessions.ts').then(({ StoredFlowSessions }) => new StoredFlowSessions(config)));
  return {
    get isThere() {
      return config() !== undefined;
    },
    list: async (filter) => (await load()).list(filter),
    find: async (id, look) => (await load()).find(id, look),
    ask: async (request, look) => (await load()).ask(request, look),
  };
}
