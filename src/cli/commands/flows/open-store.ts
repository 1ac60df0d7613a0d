// Opens the store that a command names: on the command line, in the file with the code, in the environment or in the configuration. Keys
// are given by the names of their variables, so they do not appear in the process list.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatProblem } from '../../../config/check/config-problems.ts';
import type { FlowsConfig } from '../../../config/config.ts';
import { loadConfig } from '../../../config/read/load-config.ts';
import { findExportedFlows } from '../../../flow/define.ts';
import type { AnyFlow } from '../../../flow/define.ts';
import type { SessionOptions } from '../../../flow/session/context/session-context.ts';
import { openStoreUrl } from '../../../flow/store/store-url.ts';
import type { FlowStore } from '../../../flow/store/store.ts';
import { importFresh, describeImportError } from '../../../kernel/files/import-fresh.ts';
import { isObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { FlowsCommand } from '../../args/flow-commands.ts';
import { readEnvironment } from '../../environment.ts';
import { howTo, isUsable, judgeTrust, whyNot } from '../../trust/judge-trust.ts';

export interface OpenStore {
  store: FlowStore;
  /** Keys that seal secrets, arguments and results. */
  keys: string[] | undefined;
  /** Flows that the code file exports. */
  flows: AnyFlow[];
  options: SessionOptions;
}

const OURS = ['mcp-parley', 'mcp-parley/flow'];
const NO_STORE = [
  'no store was named.',
  'Name it with --store sqlite:FILE, redis://HOST or postgres://HOST/DATABASE, with a --code FILE that exports its `options`, in the variable',
  'PARLEY_FLOW_STORE, or as "flows" of a configuration. Sessions in the memory of a server, or in tokens, cannot be seen from outside.',
].join('\n');

/** `writes`: the command will change the store. */
export async function openStore(command: FlowsCommand, { writes }: { writes: boolean }): Promise<OpenStore> {
  const { env } = readEnvironment();
  const { flows, options } = command.code === undefined ? { flows: [], options: {} } : await loadCode(command.code);
  const named = toNamed(command, { isOpen: options.store !== undefined, env });
  const store = named ? await openNamed(named, writes) : options.store;
  if (!store) throw new Error(NO_STORE);
  if (!store.browse) throw new Error('This store has no `browse`, and so its sessions cannot be listed. Add it.');
  const typed = command.sealKeys.map((name) => fromEnv(name, env));
  const keys = [typed, named?.keys ?? [], options.keys ?? []].find(({ length }) => length > 0);
  return { store, keys: keys && [...keys], flows, options };
}

type NamedStore = Pick<FlowsConfig, 'store'> & Partial<FlowsConfig>;

type Env = Record<string, string | undefined>;

/** `isOpen`: the code file has a store. The command line wins over a file. */
function toNamed(command: FlowsCommand, { isOpen, env }: { isOpen: boolean; env: Env }): NamedStore | undefined {
  const { store, config, prefix, fileKey } = command;
  const typed = store ?? (isOpen || config !== undefined ? undefined : env['PARLEY_FLOW_STORE']);
  const file = typed === undefined && (config !== undefined || !isOpen) ? ofConfig(config) : undefined;
  if (typed === undefined && !file) return undefined;
  return {
    ...file,
    store: typed ?? file!.store,
    ...(prefix !== undefined && { prefix }),
    ...(fileKey !== undefined && { fileKey: fromEnv(fileKey, env) }),
  };
}

/** The "flows" of the named file, which must have it, or of the file that is found. */
function ofConfig(named: string | undefined): FlowsConfig | undefined {
  const loaded = loadConfig(named, readEnvironment());
  const { config, path, problems } = loaded;
  const verdict = config?.flows ? judgeTrust(loaded, readEnvironment()) : 'own';
  if (!isUsable(verdict)) throw new Error(`${whyNot(path!, verdict)} ${howTo(path!)}`);
  if (config?.flows || named === undefined) return config?.flows;
  const [first] = problems.filter(({ level }) => level === 'error');
  throw new Error(
    first
      ? formatProblem(first, path ?? named)
      : `${named} has no "flows". Add "flows": { "store": "sqlite:flows.db" }.`,
  );
}

function openNamed({ store, prefix, fileKey: key }: NamedStore, writes: boolean): Promise<FlowStore> {
  return openStoreUrl(store, { prefix, key, readOnly: !writes });
}

/** The flows that a file exports, and its `options` for serveFlows. */
async function loadCode(file: string): Promise<{ flows: AnyFlow[]; options: SessionOptions }> {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`${file} is not there. Check the path.`);
  const module = await importFresh(path, OURS).catch((thrown: unknown) => {
    throw new GatewayError('BAD_OPTION', { option: file, reason: describeImportError(thrown) });
  });
  const options = isObject(module) && isObject(module['options']) ? (module['options'] as SessionOptions) : {};
  return { flows: findExportedFlows(module), options };
}

function fromEnv(name: string, env: Env): string {
  const value = env[name];
  if (value) return value;
  throw new Error(`the environment variable ${name}, which should have a key, is not set.`);
}
