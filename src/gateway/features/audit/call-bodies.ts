// The bodies of lines about calls. Most are like the one before in all but the id, the outcome, the time and the arguments: what they have in common is
// kept as text, because writing all of it again would take several times as long. What is unusual is left to `toBody`, which would write the same.
import type { ObservedCall } from '../../../kernel/events/observed-call.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { MAX_SHAPED, isParameter, toType } from './argument-shape.ts';
import { toBody, toSafeJson } from './audit-lines.ts';

/** What needs no escapes, as our own ids and outcomes. */
const PLAIN = /^[\w :.#+-]{1,64}$/;

export class CallBodies {
  #client: string | undefined;
  #key: string | undefined;
  #principal: string | undefined;
  #server: string | undefined;
  #method: string | undefined;
  #name: string | undefined;
  #shownName: string | undefined;
  /** Before the outcome, and from the details to the arguments. */
  #before = '';
  #after = '';

  /** Undefined for a call that is unusual. */
  of(call: ObservedCall, outcome = 'INTERNAL'): string | undefined {
    const { exchange, findings, ms } = call;
    if (exchange.decision !== undefined || findings !== undefined || call.unwrapped !== undefined) return undefined;
    if (!isPlain(outcome) || !isPlain(exchange.id)) return undefined;
    const shown = shownArguments(call.params);
    const time = ms === undefined ? undefined : inTenths(ms);
    if (shown === undefined || time === undefined) return undefined;
    if (!this.#isLikeLast(call)) this.#learn(call);
    return `"kind":"call","exchange":"${exchange.id}",${this.#before}"outcome":"${outcome}","ms":${time},"details":${this.#after}${shown}}}`;
  }

  #isLikeLast({ exchange, principal, server, name, shownName }: ObservedCall): boolean {
    const { method, client } = exchange;
    if (this.#shownName !== shownName || this.#name !== name || this.#method !== method) return false;
    if (this.#principal !== principal || this.#server !== server) return false;
    return this.#client === client.info.name && this.#key === client.connection?.identity?.key;
  }

  #learn({ exchange, principal, server, name: own, shownName }: ObservedCall): void {
    const { method, client } = exchange;
    const name = own ?? shownName;
    const key = client.connection?.identity?.key;
    const about = toBody({ principal, server, method, name, end: 0 });
    this.#before = about.slice(0, about.lastIndexOf('"end"'));
    this.#after = toSafeJson({ client: client.info.name, key, as: name === shownName ? undefined : shownName }).slice(
      0,
      -1,
    );
    [this.#principal, this.#server, this.#method, this.#name, this.#shownName] = [
      principal,
      server,
      method,
      own,
      shownName,
    ];
    [this.#client, this.#key] = [client.info.name, key];
  }
}

function isPlain(text: string): boolean {
  return text === 'ok' || PLAIN.test(text);
}

/** The shapes of the arguments as a member of the details; empty if there are none, undefined if they are unusual. */
function shownArguments({ arguments: given }: JsonObject): string | undefined {
  if (given === undefined) return '';
  if (!isObject(given)) return undefined;
  let shown = '';
  let count = 0;
  for (const name in given) {
    if (++count > MAX_SHAPED || !isParameter(name) || !Object.hasOwn(given, name)) return undefined;
    shown += `${count === 1 ? '' : ','}"${name}":"${toType(given[name])}"`;
  }
  return `,"arguments":{${shown}}`;
}

/** As JSON writes a number of tenths, but from whole numbers, which is faster. */
function inTenths(ms: number): string | undefined {
  const tenths = Math.round(ms * 10);
  if (!(tenths >= 0 && tenths < 1e9) || tenths / 10 !== ms) return undefined;
  const rest = tenths % 10;
  return rest === 0 ? `${tenths / 10}` : `${(tenths - rest) / 10}.${rest}`;
}
