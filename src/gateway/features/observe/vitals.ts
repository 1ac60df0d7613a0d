// The current state of a gateway as gauges and counters, made on each request for metrics.
import type { Target } from '../../../kernel/target.ts';
import { LISTEN_FOR_CHANGES } from '../../../kernel/methods.ts';
import { mergeFamilies } from '../../../kernel/base/metric.ts';
import type { Family } from '../../../kernel/base/metric.ts';
import type { Log } from '../../../kernel/base/log.ts';

export interface Vitals {
  readonly servers: readonly { name: string; state: string }[];
  readonly upstreams: ReadonlyMap<string, UpstreamCounts>;
  readonly sessions: number;
  readonly listens: number;
  readonly parked: number;
  readonly inFlight: number;
}

interface UpstreamCounts {
  lost: number;
  restarts: number;
}

const STATES = ['idle', 'starting', 'ready', 'failing'];

export function vitalFamilies({ servers, upstreams, sessions, listens, parked, inFlight }: Vitals): Family[] {
  return [
    gauge('parley_exchanges_in_flight', 'Requests in progress, including parked calls.', inFlight),
    gauge('parley_sessions', 'Clients with an open session.', sessions),
    gauge('parley_listen_streams', `Open ${LISTEN_FOR_CHANGES} streams.`, listens),
    gauge('parley_parked_calls', 'Calls that wait for an answer from their user.', parked),
    {
      name: 'parley_upstream_state',
      help: 'Servers by state: 1 for the current state.',
      type: 'gauge',
      samples: servers.flatMap(({ name: server, state }) =>
        STATES.map((one) => ({ labels: { server, state: one }, value: Number(one === state) })),
      ),
    },
    {
      name: 'parley_upstream_lost_total',
      help: 'Connections to a server that were lost.',
      type: 'counter',
      samples: [...upstreams].map(([server, { lost }]) => ({ labels: { server }, value: lost })),
    },
    {
      name: 'parley_upstream_restarts_total',
      help: 'Connections reopened after a loss.',
      type: 'counter',
      samples: [...upstreams].map(([server, { restarts }]) => ({ labels: { server }, value: restarts })),
    },
  ];
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ labels: {}, value }] };
}

/** What servers in this process count themselves, labelled with the name of the server. */
export async function serverFamilies(servers: readonly { name: string; target: Target }[]): Promise<Family[]> {
  const all = servers.map(async ({ name: server, target }) =>
    ((await target.metrics?.()) ?? []).map((family) => ({
      ...family,
      samples: family.samples.map((sample) => ({ ...sample, labels: { server, ...sample.labels } })),
    })),
  );
  return mergeFamilies((await Promise.all(all)).flat());
}

/** Counts lost and reopened connections of each server, from the events of its log. */
export class UpstreamEvents {
  readonly #counts = new Map<string, UpstreamCounts>();

  /** By server, also removed ones: counters never decrease. */
  get counts(): ReadonlyMap<string, UpstreamCounts> {
    return this.#counts;
  }

  /** Wraps the log of this server. */
  hear(log: Log, server: string): Log {
    const counts = this.#counts.get(server) ?? { lost: 0, restarts: 0 };
    this.#counts.set(server, counts);
    return hearing(log, (event) => {
      if (event === 'upstream.lost') counts.lost++;
      if (event === 'upstream.ready' && counts.restarts < counts.lost) counts.restarts++;
    });
  }
}

function hearing(log: Log, hear: (event: string) => void): Log {
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, event: string) => {
    hear(event);
    log[level](fields, event);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => hearing(log.child(fields), hear),
  };
}
