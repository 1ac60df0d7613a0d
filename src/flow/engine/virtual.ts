// Time and randomness as a body sees them: Date, Math.random, crypto.randomUUID and getRandomValues give the same in every run.
// They are replaced once per thread, when the first flow runs; everywhere but inside a body they do what they always did.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { toNumber, toUuid } from './entropy.ts';
import { inside } from './window.ts';

let installed = false;

export function installVirtual(): void {
  if (installed) return;
  installed = true;
  replaceDate();
  replaceRandom();
}

function replaceDate(): void {
  const real = Date;
  const realNow = Date.now;
  real.now = function now() {
    return inside()?.time ?? realNow();
  };
  globalThis.Date = new Proxy(real, {
    construct(target, given: unknown[], newTarget) {
      const time = given.length === 0 ? inside()?.time : undefined;
      return Reflect.construct(target, time === undefined ? given : [time], newTarget as typeof Date) as object;
    },
    apply(target, self, given) {
      const time = inside()?.time;
      return time === undefined ? Reflect.apply(target, self, given) : new target(time).toString();
    },
  });
}

function replaceRandom(): void {
  const { random } = Math;
  Math.random = function virtualRandom() {
    const body = inside();
    return body ? toNumber(body.bytes(7)) : random();
  };
  // eslint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const { randomUUID, getRandomValues, randomBytes } = crypto;
  crypto.randomUUID = function virtualUuid(...given: []) {
    const body = inside();
    return body ? toUuid(body.bytes(16)) : Reflect.apply(randomUUID, crypto, given);
  };
  const fill = function virtualValues<T extends ArrayBufferView>(array: T, real: (array: T) => T): T {
    const body = inside();
    if (!body) return real(array);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(body.bytes(array.byteLength));
    return array;
  };
  crypto.getRandomValues = ((array: NodeJS.ArrayBufferView) =>
    fill(array, (own) => Reflect.apply(getRandomValues, crypto, [own]))) as typeof getRandomValues;
  crypto.randomBytes = ((size: number, ...rest: []) => {
    const body = inside();
    return body && rest.length === 0 ? body.bytes(size) : Reflect.apply(randomBytes, crypto, [size, ...rest]);
  }) as typeof randomBytes;
  syncBuiltinESMExports();
  replaceWebCrypto(fill);
}

/** The global `crypto` is another object than the module. */
function replaceWebCrypto(fill: <T extends ArrayBufferView>(array: T, real: (array: T) => T) => T): void {
  const web = globalThis.crypto;
  const own = { randomUUID: web.randomUUID.bind(web), getRandomValues: web.getRandomValues.bind(web) };
  Object.defineProperties(web, {
    randomUUID: {
      value: () => {
        const body = inside();
        return body ? toUuid(body.bytes(16)) : own.randomUUID();
      },
      configurable: true,
      writable: true,
    },
    getRandomValues: {
      value: (array: Uint8Array) => fill(array, (given) => own.getRandomValues(given)),
      configurable: true,
      writable: true,
    },
  });
}
