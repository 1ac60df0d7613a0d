// The store that a command is about, and what it takes to read it: named on the command line, or by the file with the code, or by the
// environment. Keys are named by their variables, so that they stand in no list of processes.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AnyFlow } from '../../flow/define.ts';
import { flowsOf } from '../../flow/explore/flows-of.ts';
import type { SessionOptions } from '../../flow/session/setup.ts';
import { createRedisStore } from '../../flow/store/redis.ts';
import { createSqliteStore } from '../../flow/store/sqlite.ts';
import type { FlowStore } from '../../flow/store/store.ts';
import { importAnew, whyNotImported } from '../../gateway/middleware/import-anew.ts';
import { isObject } from '../../protocol/message.ts';
import { GatewayError } from '../../shared/errors.ts';
import { surroundings } from '../around.ts';
import type { FlowsCommand } from '../command.ts';

export interface OpenStore {
  store: FlowStore;
  /** Seal secrets, arguments and results. */
  keys: string[] | undefined;
  /** Of the file with the code. */
  flows: AnyFlow[];
  options: SessionOptions;
}

const OURS = ['mcp-parley', 'mcp-parley/flow'];
const NO_STORE = [
  'no store was named.',
  'Name it with --store sqlite:FILE or --store redis://HOST, with a --code FILE that exports its `options`, or in the variable',
  'PARLEY_FLOW_STORE. Sessions in the memory of a server, or in tokens, cannot be seen from outside.',
].join('\n');

/** `writes`: something is going to be done, not only looked at. */
export async function openStore(command: FlowsCommand, { writes }: { writes: boolean }): Promise<OpenStore> {
  const { env } = surroundings();
  const { flows, options } = command.code === undefined ? { flows: [], options: {} } : await loadCode(command.code);
  const named = command.store ?? (options.store ? undefined : env['PARLEY_FLOW_STORE']);
  const store = named === undefined ? options.store : await openNamed(named, command, { writes, env });
  if (!store) throw new Error(NO_STORE);
  if (!store.browse) throw new Error('This store has no `browse`, and so its sessions cannot be listed. Add it.');
  const keys = command.sealKeys.length > 0 ? command.sealKeys.map((name) => fromEnv(name, env)) : options.keys;
  return { store, keys, flows, options };
}

interface Opening {
  writes: boolean;
  env: Record<string, string | undefined>;
}

async function openNamed(named: string, command: FlowsCommand, { writes, env }: Opening): Promise<FlowStore> {
  const { prefix, fileKey } = command;
  if (/^rediss?:\/\//.test(named)) return createRedisStore({ url: named, prefix });
  const path = named.replace(/^sqlite:(?:\/\/)?/, '');
  if (path === named || path === '') {
    throw new GatewayError('BAD_OPTION', {
      option: 'store',
      reason: `"${withoutPassword(named)}" is none; write sqlite:FILE, redis://HOST or rediss://HOST`,
    });
  }
  // A file that is missing would be made.
  if (!existsSync(path)) throw new GatewayError('STORE_UNUSABLE', { reason: `${path} is not there` });
  const key = fileKey === undefined ? undefined : fromEnv(fileKey, env);
  return createSqliteStore({ path, key, readOnly: !writes });
}

/** The flows that a file exports, and `options` as they are given to serveFlows. */
async function loadCode(file: string): Promise<{ flows: AnyFlow[]; options: SessionOptions }> {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`${file} is not there. Check the path.`);
  const module = await importAnew(path, OURS).catch((thrown: unknown) => {
    throw new GatewayError('BAD_OPTION', { option: file, reason: whyNotImported(thrown) });
  });
  const options = isObject(module) && isObject(module['options']) ? (module['options'] as SessionOptions) : {};
  return { flows: flowsOf(module), options };
}

function fromEnv(name: string, env: Opening['env']): string {
  const value = env[name];
  if (value) return value;
  throw new Error(`the environment variable ${name}, which should have a key, is not set.`);
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^@/]*@/, '//…@');
}
