// Which gateways a request has passed. Every gateway has an id. It adds the id to what it sends on: to the environment of server
// processes, to an HTTP header and to `_meta`. A gateway that finds its own id on an incoming request refuses it, because the request
// has gone round in a circle. A chain of different gateways is fine.
//
// The ids that came with a request travel beside it in an AsyncLocalStorage, so that everything the request causes (connections,
// processes, lists) carries them. The storage is made when the first such request arrives: a gateway with no other gateway in front
// of it pays nothing.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError, ProtocolError } from './errors.ts';

export const VIA_HEADER = 'parley-via';
export const VIA_VARIABLE = 'PARLEY_VIA';

const NONE: readonly string[] = [];
/** Ids are random text of this alphabet; a serving gateway puts a digest of its file in front. */
const ID = /^[\w.-]{1,80}$/;
/** Of a list that a peer sends. */
const MAX_TEXT = 4096;

let storage: AsyncLocalStorage<readonly string[]> | undefined;

/** The ids that came with the request that is being handled. */
export function arrivedVia(): readonly string[] {
  return storage?.getStore() ?? NONE;
}

/** The ids of the gateways that started this process, outermost first. */
export function startedVia(env: Record<string, string | undefined> = process.env): readonly string[] {
  return readVia(env[VIA_VARIABLE]);
}

/** What a gateway sends on with the request that is being handled: all that is before it, and itself as the last. */
export function viaFrom(id: string): string[] {
  return [...new Set([...startedVia(), ...arrivedVia(), id])];
}

/** The same for what outlives the request, such as a process or a connection: what others claim to have passed is not part of it. */
export function ownVia(id: string): string[] {
  return [...new Set([...startedVia(), id])];
}

/** As it stands in a header or variable, or as a list in `_meta`. What is not an id is ignored. */
export function readVia(value: unknown): readonly string[] {
  if (value === undefined) return NONE;
  const words = typeof value === 'string' ? value.slice(0, MAX_TEXT).split(',') : Array.isArray(value) ? value : NONE;
  return words.map((word) => String(word).trim()).filter((word) => ID.test(word));
}

export function writeVia(ids: readonly string[]): string {
  return ids.join(',');
}

export interface ViaCheck {
  /** Of the gateway that received the request. Undefined for a server that sends nothing on. */
  id: string | undefined;
  maxHops: number;
  /** It came on stdin: a gateway with the same file is this one, started once more. */
  isStarted?: boolean | undefined;
}

/** Does `work` for a request that came by these gateways; throws LOOP where this one is among them. */
export function runUnlessVisited<T>(ids: readonly string[], { id, maxHops, isStarted }: ViaCheck, work: () => T): T {
  if (id === undefined || ids.length === 0) return work();
  const file = isStarted ? fileIn(id) : undefined;
  if (file !== undefined && ids.some((one) => fileIn(one) === file))
    throw new GatewayError('LOOP', { reason: 'a gateway with the same file has started this one' });
  if (ids.includes(id)) throw new GatewayError('LOOP', { reason: 'it has passed this gateway before' });
  if (ids.length >= maxHops) throw new GatewayError('LOOP', { reason: `it has passed ${ids.length} gateways` });
  return runVia(ids, work);
}

/** The digest of the file of a serving gateway, which stands before a dot. */
function fileIn(id: string): string | undefined {
  const end = id.indexOf('.');
  return end > 0 ? id.slice(0, end) : undefined;
}

/** Whether something was refused because it goes round, here or by a gateway further on. */
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

/** A callback of an event that belongs to the request being handled: events have no memory of who asked for them. */
export function boundVia<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
  const ids = arrivedVia();
  return ids.length === 0 ? callback : (...args) => runVia(ids, () => callback(...args));
}
