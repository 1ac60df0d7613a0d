// Tracks which gateways a request has passed. Every gateway has an id and adds it to what it sends: to the environment
// of server processes, to an HTTP header and to `_meta`. A gateway that finds its own id on a request refuses it as a
// loop. A chain of different gateways is fine.
// The ids of a request are kept in an AsyncLocalStorage while it is handled, so that everything it causes (connections,
// processes, lists) carries them. The storage is created by the first such request, so it costs nothing without a
// gateway in front.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError, ProtocolError } from './errors.ts';

export const VIA_HEADER = 'parley-via';
export const VIA_VARIABLE = 'PARLEY_VIA';

const NONE: readonly string[] = [];
/** Ids are random text; a serving gateway puts a digest of its file in front. */
const ID = /^[\w.-]{1,80}$/;
/** The longest list from a peer. */
const MAX_TEXT = 4096;

let storage: AsyncLocalStorage<readonly string[]> | undefined;

/** The ids of the current request. */
export function arrivedVia(): readonly string[] {
  return storage?.getStore() ?? NONE;
}

/** The ids of the gateways that started this process, outermost first. */
export function startedVia(env: Record<string, string | undefined> = process.env): readonly string[] {
  return readVia(env[VIA_VARIABLE]);
}

/** The ids to send on with the current request: those before it, then its own. */
export function viaFrom(id: string): string[] {
  return [...new Set([...startedVia(), ...arrivedVia(), id])];
}

/** The same for what outlives the request, such as a process or a connection, without the request's own ids. */
export function ownVia(id: string): string[] {
  return [...new Set([...startedVia(), id])];
}

/** Reads a header, a variable, or a list in `_meta`. Ignores anything that is not an id. */
export function readVia(value: unknown): readonly string[] {
  if (value === undefined) return NONE;
  const words = typeof value === 'string' ? value.slice(0, MAX_TEXT).split(',') : Array.isArray(value) ? value : NONE;
  return words.map((word) => String(word).trim()).filter((word) => ID.test(word));
}

export function writeVia(ids: readonly string[]): string {
  return ids.join(',');
}

interface ViaCheck {
  /** The id of the receiving gateway. Undefined for a server that forwards nothing. */
  id: string | undefined;
  maxHops: number;
  /** The request came on stdin: a gateway with the same file is this one, started again. */
  isStarted?: boolean | undefined;
}

/** Runs `work` for a request with these ids; throws LOOP if this gateway is among them. */
export function runUnlessVisited<T>(ids: readonly string[], { id, maxHops, isStarted }: ViaCheck, work: () => T): T {
  if (id === undefined || ids.length === 0) return work();
  const file = isStarted ? fileIn(id) : undefined;
  if (file !== undefined && ids.some((one) => fileIn(one) === file))
    throw new GatewayError('LOOP', { reason: 'a gateway with the same file has started this one' });
  if (ids.includes(id)) throw new GatewayError('LOOP', { reason: 'it has passed this gateway before' });
  if (ids.length >= maxHops) throw new GatewayError('LOOP', { reason: `it has passed ${ids.length} gateways` });
  return runVia(ids, work);
}

/** The digest of a serving gateway's file, before the dot. */
function fileIn(id: string): string | undefined {
  const end = id.indexOf('.');
  return end > 0 ? id.slice(0, end) : undefined;
}

/** Whether an error reports a loop, here or at a later gateway. */
export function isLoop(thrown: unknown): boolean {
  if (thrown instanceof GatewayError) return thrown.code === 'LOOP';
  const data: unknown = thrown instanceof ProtocolError ? thrown.data : undefined;
  return typeof data === 'object' && data !== null && 'loop' in data && data.loop === true;
}

export function runVia<T>(ids: readonly string[], work: () => T): T {
  const { AsyncLocalStorage: Storage } = process.getBuiltinModule('node:async_hooks');
  storage ??= new Storage();
  return storage.run(ids, work);
}

/** Binds an event callback to the current request, because events lose the AsyncLocalStorage. */
export function boundVia<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
  const ids = arrivedVia();
  return ids.length === 0 ? callback : (...args) => runVia(ids, () => callback(...args));
}
