// What a body sees of the world: it runs in windows, in which time and randomness are those of its session, and gets frozen values.
// A `setImmediate` callback opens a window, and the next callback of the same batch closes it. In between Node runs only the microtasks that
// the first callback caused, so everything that happens in a window belongs to that body. This costs nothing, unlike async_hooks.
import crypto, { createCipheriv } from 'node:crypto';
import type { Cipher } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers';
import { clearAsyncIds, takeEnded, unwatchWindow, watchWindow } from './watchdog.ts';

/** The time and randomness of a body. */
export interface BodyEnvironment {
  readonly time: number;
  readonly entropy: Entropy;
  /** Reports I/O outside of a step while the body is traced. True: the I/O must not happen. */
  onUnjournaled?(trespass: { what: string; where: string }): boolean;
}

let current: BodyEnvironment | undefined;

export function currentBody(): BodyEnvironment | undefined {
  return current;
}

export function openWindow(body: BodyEnvironment): void {
  current = body;
  watchWindow();
}

export function closeWindow(): void {
  current = undefined;
  unwatchWindow();
}

/** Runs work of the engine that must not count as the body's. */
export function runOutside<T>(work: () => T): T {
  const body = current;
  current = undefined;
  try {
    return work();
  } finally {
    current = body;
  }
}

const MAX_BATCH = 4096;

/** What is done in a tick. */
interface TickWork {
  /** Another tick follows, so a window may be opened. */
  act(): void;
  /** It is the last tick of the batch. */
  rest(): void;
  /** What ran in the last window was ended, because it did not let go of the thread. */
  ended(error: Error): void;
}

const NOW = Promise.resolve();

/**
 * Batches of `setImmediate` callbacks, which Node runs one after another with only microtasks in between. Each callback but the last knows
 * that another follows, and so may open a window that the next one closes. A window is opened in a microtask: a body runs nowhere else, and
 * microtasks can be ended without harm to what the event loop does besides (watchdog.ts).
 */
export class Ticks {
  readonly #work: TickWork;
  #planned = 0;

  constructor(work: TickWork) {
    this.#work = work;
  }

  /** Does nothing while a batch is running, because two batches would mix. */
  plan(count: number): void {
    if (this.#planned > 0) return;
    this.#planned = Math.min(count, MAX_BATCH);
    for (let at = 0; at < this.#planned; at++) setImmediate(this.#tick);
  }

  readonly #act = (): void => this.#work.act();

  readonly #tick = (): void => {
    this.#planned--;
    closeWindow();
    const ended = takeEnded();
    if (ended) this.#work.ended(ended.error);
    if (this.#planned > 0) void NOW.then(this.#act);
    else this.#work.rest();
    if (ended?.isTorn) clearAsyncIds();
  };
}

let installed = false;

/** Replaces Date, Math.random and the random functions of crypto once per thread. Outside of a body they work as before. */
export function installGlobals(): void {
  if (installed) return;
  installed = true;
  replaceDate();
  replaceRandom();
  replaceCrypto();
}

function replaceDate(): void {
  const real = Date;
  const realNow = Date.now;
  real.now = function now() {
    return currentBody()?.time ?? realNow();
  };
  globalThis.Date = new Proxy(real, {
    construct(target, given: unknown[], newTarget) {
      const time = given.length === 0 ? currentBody()?.time : undefined;
      return Reflect.construct(target, time === undefined ? given : [time], newTarget as typeof Date) as object;
    },
    apply(target, self, given) {
      const time = currentBody()?.time;
      return time === undefined ? Reflect.apply(target, self, given) : new target(time).toString();
    },
  });
}

function replaceRandom(): void {
  const { random } = Math;
  Math.random = function virtualRandom() {
    const body = currentBody();
    return body ? toNumber(body.entropy.bytes(7)) : random();
  };
}

/** The module and the global are two objects; `getRandomValues` of the module calls the global one. */
function replaceCrypto(): void {
  const web = globalThis.crypto;
  const [webUuid, webValues] = [web.randomUUID.bind(web), web.getRandomValues.bind(web)];
  replace(web, 'randomUUID', (body) => (body ? toUuid(body.entropy.bytes(16)) : webUuid()));
  replace(web, 'getRandomValues', (body, array: Uint8Array) => {
    if (!body) return webValues(array);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(body.entropy.bytes(array.byteLength));
    return array;
  });
  const [uuid, randomBytes] = [crypto.randomUUID.bind(crypto), crypto.randomBytes.bind(crypto)];
  replace(crypto, 'randomUUID', (body, options: object) => (body ? toUuid(body.entropy.bytes(16)) : uuid(options)));
  replace(crypto, 'randomBytes', (body, size: number, callback: () => void) => {
    if (body && callback === undefined) return body.entropy.bytes(size);
    return callback === undefined ? randomBytes(size) : randomBytes(size, callback);
  });
  syncBuiltinESMExports();
}

function replace(
  holder: object,
  name: string,
  work: (body: BodyEnvironment | undefined, ...given: never[]) => unknown,
): void {
  const value = (...given: never[]) => work(currentBody(), ...given);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: true });
}

const BLOCK = Buffer.alloc(256);

/**
 * Randomness that is the same in every run of a session, and that cannot be predicted from earlier output: the key stream of AES in counter
 * mode, keyed by the session's seed.
 */
export class Entropy {
  readonly #seed: string;
  #cipher: Cipher | undefined;
  #left: Buffer = Buffer.alloc(0);

  /** 128 bits in base64url. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  bytes(count: number): Buffer {
    this.#cipher ??= createCipheriv('aes-128-ctr', Buffer.from(this.#seed, 'base64url'), Buffer.alloc(16));
    const parts = [this.#left];
    let have = this.#left.length;
    for (; have < count; have += BLOCK.length) parts.push(this.#cipher.update(BLOCK));
    const all = parts.length === 1 ? this.#left : Buffer.concat(parts);
    this.#left = all.subarray(count);
    return all.subarray(0, count);
  }
}

/** In [0, 1), with 53 bits. */
export function toNumber(bytes: Buffer): number {
  return (bytes.readUIntBE(0, 6) * 32 + (bytes[6]! & 31)) / 2 ** 53;
}

/** A version 4 UUID. */
export function toUuid(bytes: Buffer): `${string}-${string}-${string}-${string}-${string}` {
  const own = Buffer.from(bytes);
  own[6] = (own[6]! & 0x0f) | 0x40;
  own[8] = (own[8]! & 0x3f) | 0x80;
  const hex = own.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Every run gets its own copy of a value, so a change would be lost. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
