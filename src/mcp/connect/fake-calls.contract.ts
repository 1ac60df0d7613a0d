// Test helper: what calls to a server share, where the server is a function in the test. The build leaves `*.contract.ts` out.
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import type { OutgoingCall, ServerView } from '../../kernel/server-view.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { ConnectionPool } from '../../gateway/servers/connections/connection-pool.ts';
import type { SupervisedConnection } from '../../gateway/servers/connections/supervised-connection.ts';
import type { CallContext } from '../../gateway/servers/call-context.ts';

interface FakeServer {
  server: Pick<ServerView, 'dialect' | 'era'> & Partial<ServerView>;
  callRaw: (call: OutgoingCall) => Promise<ResultObject>;
  clock?: Clock;
}

interface FakeCalls extends CallContext {
  /** How many calls use the connection. */
  leased: number;
  /** How often it was given back. */
  released: number;
}

/** All calls share one open connection. */
export function fakeCalls({ server, callRaw, clock = systemClock }: FakeServer): FakeCalls {
  const supervised = {
    current: { transport: 'streamable-http', server, callRaw },
    take: () => void calls.leased++,
    giveBack() {
      calls.leased--;
      calls.released++;
    },
  } as unknown as SupervisedConnection;
  const connections = new ConnectionPool({ share: 'all', clock, waitMs: 100, maxPool: 8, open: () => supervised });
  const calls: FakeCalls = { connections, clock, timeoutMs: 5, leased: 0, released: 0 };
  return calls;
}
