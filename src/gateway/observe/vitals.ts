// Converts the current state of a gateway into gauges and counters, on each request for metrics.
import type { Family } from '../../shared/metric.ts';
import type { UpstreamCounts } from './upstream-events.ts';

export interface Vitals {
  readonly servers: readonly { name: string; state: string }[];
  readonly upstreams: ReadonlyMap<string, UpstreamCounts>;
  readonly sessions: number;
  readonly listens: number;
  readonly parked: number;
  readonly inFlight: number;
}

const STATES = ['idle', 'starting', 'ready', 'failing'];

export function vitalFamilies({ servers, upstreams, sessions, listens, parked, inFlight }: Vitals): Family[] {
  return [
    gauge('parley_exchanges_in_flight', 'Requests being answered, parked calls among them.', inFlight),
    gauge('parley_sessions', 'Clients that have initialized and are still there.', sessions),
    gauge('parley_listen_streams', 'Open subscriptions/listen streams.', listens),
    gauge('parley_parked_calls', 'Calls that wait for an answer of their user.', parked),
    {
      name: 'parley_upstream_state',
      help: 'Servers by state: 1 for the state that a server is in.',
      type: 'gauge',
      samples: servers.flatMap(({ name: server, state }) =>
        STATES.map((one) => ({ labels: { server, state: one }, value: Number(one === state) })),
      ),
    },
    {
      name: 'parley_upstream_lost_total',
      help: 'Connections to a server that ended by themselves.',
      type: 'counter',
      samples: [...upstreams].map(([server, { lost }]) => ({ labels: { server }, value: lost })),
    },
    {
      name: 'parley_upstream_restarts_total',
      help: 'Connections opened again after one was lost.',
      type: 'counter',
      samples: [...upstreams].map(([server, { restarts }]) => ({ labels: { server }, value: restarts })),
    },
  ];
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ labels: {}, value }] };
}
