// The status of a server that a command has connected to itself.
import type { ServerStatus } from '../../gateway/servers/gateway-status.ts';
import type { Client } from '../../sdk/client/client.ts';

/** The status of a server that is connected directly, without a gateway. `tools`: the number of its tools, if known. */
export function toClientStatus({ server, transport }: Client, tools: number | null = null): ServerStatus {
  const { info, dialect, revision } = server;
  const { name, version } = info;
  return {
    name,
    state: 'ready',
    info: { name, version },
    era: dialect,
    revision,
    transport,
    tools,
    tokens: null,
    ownTools: tools,
    failure: null,
    toolNames: [],
  };
}
