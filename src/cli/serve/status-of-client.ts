// A server that is asked directly, with no gateway in front of it, as one line of a status.
import type { Client } from '../../client/client.ts';
import type { ServerStatus } from './status-page.ts';

/** `tools`: how many it has, where that is known. */
export function toClientStatus({ server, transport }: Client, tools: number | null = null): ServerStatus {
  const { info, dialect, revision } = server;
  const { name, version } = info;
  return {
    ...{ name, state: 'ready', info: { name, version }, era: dialect, revision, transport },
    ...{ tools, ownTools: tools, failure: null, toolNames: [] },
  };
}
