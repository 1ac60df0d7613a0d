// Replaces Date, Math.random and the random functions of crypto, so that a body sees the same time and randomness in every run. They are
// replaced once per thread, when the first flow runs. Outside of a body they work as before.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { installSyncChecks } from '../checks/sync-io.ts';
import type { RunInput } from '../run-input.ts';
import { toNumber, toUuid } from './entropy.ts';
import { currentBody } from './window.ts';
import type { BodyEnvironment } from './window.ts';

let installed = false;

/** Also replaces synchronous I/O where it is checked. */
export function installGlobals({ virtual = true, checks = 'throw' }: Pick<RunInput, 'virtual' | 'checks'>): void {
  if (!virtual) return;
  if (checks === 'throw') installSyncChecks();
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
    return body ? toNumber(body.bytes(7)) : random();
  };
}

/** The module and the global are two objects; `getRandomValues` of the module calls the global one. */
function replaceCrypto(): void {
  const web = globalThis.crypto;
  const [webUuid, webValues] = [web.randomUUID.bind(web), web.getRandomValues.bind(web)];
  replace(web, 'randomUUID', (body) => (body ? toUuid(body.bytes(16)) : webUuid()));
  replace(web, 'getRandomValues', (body, array: Uint8Array) => {
    if (!body) return webValues(array);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(body.bytes(array.byteLength));
    return array;
  });
  const [uuid, randomBytes] = [crypto.randomUUID.bind(crypto), crypto.randomBytes.bind(crypto)];
  replace(crypto, 'randomUUID', (body, options: object) => (body ? toUuid(body.bytes(16)) : uuid(options)));
  replace(crypto, 'randomBytes', (body, size: number, callback: () => void) => {
    if (body && callback === undefined) return body.bytes(size);
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
