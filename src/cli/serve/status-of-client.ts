// The status of a server that is connected directly, without a gateway.
import type { Client } from '../../client/client.ts';
import type { ServerStatus } from './status-page.ts';

/** `tools`: the number of its tools, if known. */
export function toClientStatus({ server, transport }: Client, tools: number | null = null): ServerStatus {
  const { info, dialect, revision } = server;
  const { name, version } = info;
  return {
    ...{ name, state: 'ready', info: { name, version }, era: dialect, revision, transport },
    ...{ tools, ownTools: tools, failure: null, toolNames: [] },
  };
}
