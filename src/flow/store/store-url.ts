// Which stores a URL can name, and how each is opened. The command line and the configuration read this table, so a store needs one row here.
// Their code is loaded when one is opened.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { GatewayError } from '../../kernel/base/errors.ts';
import type { FlowStore } from './store.ts';

interface StoreUrlOptions {
  /** Of keys in Redis, or the schema in Postgres: for stores that others use too. */
  prefix?: string | undefined;
  /** Encrypts a file, or what is in Postgres. */
  key?: string | undefined;
  readOnly?: boolean | undefined;
}

interface StoreKind {
  schemes: readonly string[];
  /** How its URL is written, for errors. */
  written: string;
  /** The URL is a path, relative to the file that names it. */
  isFile?: boolean | undefined;
  /** `rest`: the URL without its scheme. */
  open(url: string, rest: string, options: StoreUrlOptions): Promise<FlowStore>;
}

const KINDS: readonly StoreKind[] = [
  {
    schemes: ['sqlite:'],
    written: 'sqlite:FILE',
    isFile: true,
    async open(_, path, { key, readOnly }) {
      // SQLite would create a missing file.
      if (!existsSync(path)) throw new GatewayError('STORE_UNUSABLE', { reason: `${path} does not exist` });
      const { createSqliteStore } = await import('./sqlite/sqlite.ts');
      return createSqliteStore({ path, key, readOnly });
    },
  },
  {
    schemes: ['redis://', 'rediss://'],
    written: 'redis://HOST or rediss://HOST',
    async open(url, _, { prefix }) {
      const { createRedisStore } = await import('./redis/redis.ts');
      return createRedisStore({ url, prefix });
    },
  },
  {
    schemes: ['postgres://', 'postgresql://'],
    written: 'postgres://HOST/DATABASE',
    async open(url, _, { prefix, key, readOnly }) {
      const { createPostgresStore } = await import('./postgres/postgres.ts');
      return createPostgresStore({ url, schema: prefix, key, readOnly });
    },
  },
];

/** Whether the text names a store, as far as its form says. */
export function isStoreUrl(text: string): boolean {
  return find(text) !== undefined;
}

/** The URL with its path made absolute, if it is a path. */
export function resolveStoreUrl(text: string, folder: string): string {
  const found = find(text);
  return found?.kind.isFile ? `${found.scheme}${resolve(folder, found.rest)}` : text;
}

/** Opens a store that exists. */
export async function openStoreUrl(text: string, options: StoreUrlOptions = {}): Promise<FlowStore> {
  const found = find(text);
  if (found) return found.kind.open(text, found.rest, options);
  const written = KINDS.map((kind) => kind.written).join(', ');
  throw new GatewayError('BAD_OPTION', {
    option: 'store',
    reason: `"${withoutPassword(text)}" is not a store; write ${written}`,
  });
}

function find(text: string): { kind: StoreKind; scheme: string; rest: string } | undefined {
  for (const kind of KINDS) {
    const scheme = kind.schemes.find((one) => text.startsWith(one));
    const rest = scheme === undefined ? '' : text.slice(scheme.length).replace(kind.isFile ? /^\/\// : '', '');
    if (scheme !== undefined && rest !== '') return { kind, scheme, rest };
  }
  return undefined;
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^@/]*@/, '//…@');
}
