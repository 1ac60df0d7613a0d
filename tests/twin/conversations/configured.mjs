// `parley serve` with a configuration: steps that hold a call, and a file that changes in the middle of it.
import { CANCELS } from './cancels.mjs';
import { atGate, canAsk, isTagged, settle, use } from './parts.mjs';

const STEPS = [{ retry: {} }, { timeout: { ms: 60_000 } }];

function configOf({ listener }, more = {}) {
  return { mcpServers: { one: listener.address }, ask: { channels: [] }, ...more };
}

/** Clients on stdio have a gateway each there, which is what `wrap` is for. */
const isShared = ({ client }) => client.transport !== 'stdio';

export const CONFIGURED = [
  ...CANCELS.map((conversation) => ({
    ...conversation,
    name: `with the step timeout: ${conversation.name}`,
    only: (cell) => isShared(cell) && conversation.only(cell),
    gateway: (stage) => ({ config: configOf(stage, { steps: STEPS }) }),
  })),
  ...[429, 503].map((status) => ({
    name: `with the step retry: HTTP ${status} at tools/call`,
    only: (cell) => isShared(cell) && canAsk(cell) && cell.server.transport === 'http',
    gateway: (stage) => ({ config: configOf(stage, { steps: [{ retry: { attempts: 3 } }] }) }),
    async play(stage) {
      const { a, b, server, isDirect } = stage;
      await Promise.all([a, b].map((client) => client.request('tools/list')));
      await settle(stage);
      const act = (delivery) => delivery.refuse(status, { 'retry-after': '0' }, 'busy');
      if (!isDirect) server.faults.push({ name: String(status), left: 1, at: isTagged('A3'), act });
      await Promise.all([a, b].map((client) => client.request(...use(client, ['progress', 'progress']))));
      await settle(stage);
    },
  })),
  {
    name: 'a configuration that changes in a call',
    only: (cell) => isShared(cell) && canAsk(cell),
    gateway: (stage) => ({ config: configOf(stage) }),
    async play(stage) {
      const { a, b, server, gateway } = stage;
      await settle(stage);
      const calls = [a, b].map((client) => client.start(...use(client, ['progress', 'gate:reload', 'progress'])));
      for (const { tag } of calls) await atGate(stage, 'reload', tag);
      if (gateway) {
        gateway.configure(configOf(stage, { steps: ['log'] }));
        await gateway.says(/reload|changed|configuration/i);
      }
      server.open('reload');
      await Promise.all(calls.map(({ done }) => done));
      await settle(stage);
    },
  },
];
