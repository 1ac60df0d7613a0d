// Runs statements on Postgres: loads pg on demand, opens a pool, and repeats a statement that failed for a passing reason (a broken connection, a
// restart, a deadlock), so every statement must come to the same when it is repeated. Each statement is its own transaction.
import { setTimeout as sleep } from 'node:timers/promises';
import type * as Pg from 'pg';
import { systemClock, ticksOf } from '../../../kernel/base/clock.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';

/** A pool of `pg`, or anything that runs statements as it does. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PostgresPlace {
  /** `postgres://…`. */
  url?: string | undefined;
  /** A pool that you have, instead of the URL. The store does not close it. */
  pool?: PostgresPool | undefined;
  /** How many connections the store opens at most. */
  connections?: number | undefined;
  /** How long a statement waits for a server that cannot be reached. */
  patienceMs?: number | undefined;
  /** Opens existing sessions for reading only. */
  readOnly?: boolean | undefined;
}

export interface PostgresConnection {
  run<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** A connection of its own, to listen on; undefined with a pool of somebody else. */
  listen?(channel: ChannelListener): Promise<() => void>;
  close(): Promise<void>;
}

export interface ChannelListener {
  /** In quotes. */
  name: string;
  onMessage: (payload: string) => void;
  /** The connection has broken. */
  onLost: () => void;
}

const PATIENCE_MS = 10_000;
const CONNECTIONS = 10;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Postgres refuses this only while it starts. */
const STARTING = '57P03';
/** Serialization, deadlock, lock; shut down, crashed, starting; too many connections; became a replica. */
const PASSING = new Set(['40001', '40P01', '55P03', '57P01', '57P02', STARTING, '53300', '25006']);
const CUT = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const CUT_WORDS = /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying)/;

export async function connectPostgres(place: PostgresPlace): Promise<PostgresConnection> {
  const { patienceMs = PATIENCE_MS, readOnly = false } = place;
  const own = place.pool ? undefined : await openPool(place);
  const pool: PostgresPool = place.pool ?? own!;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  const repeat = async (sql: string, values: unknown[]): Promise<unknown[]> => {
    const until = ticksOf(systemClock) + patienceMs;
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
      try {
        return (await pool.query(sql, values)).rows;
      } catch (cause) {
        const mayPass = isPassing(cause) && !(readOnly && codeOf(cause) === '25006');
        if (!mayPass || ticksOf(systemClock) + ms > until) throw failed(cause);
        await sleep(ms * (0.5 + Math.random() / 2));
      }
    }
  };
  return {
    async run<Row>(sql: string, values: unknown[] = []) {
      if (closing) throw new GatewayError('STORE_FAILED', { reason: 'it is closed' });
      const rows = repeat(sql, values);
      running.add(rows);
      try {
        return (await rows) as Row[];
      } finally {
        running.delete(rows);
      }
    },
    ...(own && { listen: (channel) => listenOn(toSettings(place), channel) }),
    close() {
      closing ??= Promise.allSettled(running).then(() => own?.end());
      return closing;
    },
  };
}

/** Opens one connection, so that a wrong address or password is known at once. */
async function openPool(place: PostgresPlace): Promise<Pg.Pool> {
  const { Pool } = await loadPg();
  // The pool waits for what this returns, which its types do not say.
  const onConnect = ((client) => client.query(toSessionSettings(place))) as (client: Pg.ClientBase) => void;
  const pool = new Pool({ ...toSettings(place), onConnect });
  // A connection that breaks while nobody uses it. The next statement opens another one.
  pool.on('error', () => undefined);
  const until = ticksOf(systemClock) + (place.patienceMs ?? PATIENCE_MS);
  for (;;) {
    try {
      (await pool.connect()).release();
      return pool;
    } catch (cause) {
      if (codeOf(cause) !== STARTING || ticksOf(systemClock) > until) {
        await pool.end();
        throw unreachable(place.url!, cause as Error);
      }
      await sleep(LONGEST_PAUSE_MS);
    }
  }
}

function toSettings({ url, connections = CONNECTIONS, patienceMs = PATIENCE_MS }: PostgresPlace): Pg.PoolConfig {
  if (!url) throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'is missing: postgres://host/database' });
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new GatewayError('BAD_OPTION', { option: 'url', reason: 'is not a URL: postgres://host/database' });
  }
  return {
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    keepAlive: true,
    application_name: 'parley',
  };
}

/** The statements count on it that each sees what was committed before it. A statement whose client has given up ends as well. */
function toSessionSettings({ patienceMs = PATIENCE_MS, readOnly }: PostgresPlace): string {
  return [
    "SET default_transaction_isolation TO 'read committed'",
    `SET statement_timeout TO ${Math.ceil(patienceMs)}`,
    ...(readOnly ? ['SET default_transaction_read_only TO on'] : []),
  ].join('; ');
}

async function listenOn(settings: Pg.PoolConfig, { name, onMessage, onLost }: ChannelListener): Promise<() => void> {
  const { Client } = await loadPg();
  const client = new Client(settings);
  let isListening = false;
  const leave = (): void => {
    isListening = false;
    void client.end().catch(() => undefined);
  };
  const lost = (): void => {
    if (!isListening) return; // a connection that never was is reported by what waits for it
    leave();
    onLost();
  };
  client.on('error', lost);
  client.on('end', lost);
  client.on('notification', ({ payload = '' }) => onMessage(payload));
  try {
    await client.connect();
    await client.query(`LISTEN ${name}`);
  } catch (error) {
    leave();
    throw error;
  }
  isListening = true;
  return leave;
}

async function loadPg(): Promise<Pick<typeof Pg, 'Pool' | 'Client'>> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const reason = 'the package pg is not installed (npm install pg)';
    throw new GatewayError('STORE_UNUSABLE', { reason }, { cause });
  }
}

function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return PASSING.has(code) || CUT.has(code) || code.startsWith('08') || CUT_WORDS.test((error as Error).message);
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? '');
}

function failed(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  return new GatewayError('STORE_FAILED', { reason: `Postgres: ${(cause as Error).message}` }, { cause });
}

function unreachable(url: string, cause: Error): GatewayError {
  const { host, pathname } = new URL(url);
  const why = cause instanceof AggregateError ? (cause.errors[0] as Error).message : cause.message;
  return new GatewayError('STORE_UNUSABLE', { reason: `${host}${pathname} does not answer: ${why}` }, { cause });
}
