// Detects clients that answer forms themselves instead of showing them to a person. Some refuse at once or send back an
// empty form. Only questions for a human are checked, and only if there is another way to ask.
// 1. One instant refusal is accepted: people can be quick. A second one in a row is not, unless the client says that it asked nobody.
// 2. A form without its required fields is not an answer.
// 3. A client that does not support the question after all, or was detected, gets no forms for an hour.
import type { Ask, ClientView } from '../kernel/exchange.ts';
import type { JsonObject } from '../kernel/message.ts';
import { isObject } from '../kernel/message.ts';
import { ticksOf } from '../kernel/base/clock.ts';
import type { Clock } from '../kernel/base/clock.ts';
import { isUnasked } from '../kernel/form/human-marks.ts';
import { GatewayError } from '../kernel/base/errors.ts';
import { BoundedMap } from '../kernel/containers/bounded-map.ts';
import { isEditRequest } from './question-round.ts';

/** People do not read and refuse a question faster than this. */
export const INSTANT_MS = 400;
const DISTRUST_MS = 3_600_000;
const MAX_CLIENTS = 10_000;
/** Method not found, invalid request: the answers of clients that cannot show the question. */
const UNKNOWN_TO_CLIENT = new Set<unknown>([-32601, -32600]);

interface Record {
  instant: number;
  distrustedUntil: number;
}

export class HumanCheck {
  readonly #clock: Clock;
  readonly #records = new BoundedMap<string, Record>(MAX_CLIENTS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a person seems to answer this client's forms. */
  isTrusted(client: ClientView): boolean {
    const record = this.#records.get(keyOf(client));
    return record === undefined || record.distrustedUntil <= ticksOf(this.#clock);
  }

  /** The client's answer if a person gave it; undefined if the question must be asked another way. */
  async take(ask: Ask, client: ClientView, askClient: () => Promise<JsonObject>): Promise<JsonObject | undefined> {
    const start = ticksOf(this.#clock);
    let answer: JsonObject;
    try {
      answer = await askClient();
    } catch (thrown) {
      const isUnknown = thrown instanceof GatewayError && UNKNOWN_TO_CLIENT.has(thrown.details.code);
      if (!isUnknown) throw thrown;
      this.#distrust(client);
      return undefined;
    }
    if (answer.action === 'accept') return isFilledIn(ask, answer) ? this.#clear(client, answer) : undefined;
    if (isUnasked(answer)) return answer;
    if (ticksOf(this.#clock) - start >= INSTANT_MS) return this.#clear(client, answer);
    return this.#countInstant(client) > 1 ? this.#distrust(client) : answer;
  }

  #clear(client: ClientView, answer: JsonObject): JsonObject {
    this.#records.delete(keyOf(client));
    return answer;
  }

  #countInstant(client: ClientView): number {
    const record = this.#recordOf(client);
    record.instant += 1;
    return record.instant;
  }

  #distrust(client: ClientView): undefined {
    this.#recordOf(client).distrustedUntil = ticksOf(this.#clock) + DISTRUST_MS;
  }

  #recordOf(client: ClientView): Record {
    return this.#records.getOrCreate(keyOf(client), () => ({ instant: 0, distrustedUntil: 0 }));
  }
}

/** Not the ClientView itself, because each stateless request creates a new one. */
function keyOf({ principal, info }: ClientView): string {
  return JSON.stringify([principal, info.name, info.version]);
}

function isFilledIn(ask: Ask, { content }: JsonObject): boolean {
  if (isEditRequest(ask, content)) return true;
  const { params } = ask;
  const schema = isObject(params) ? params.requestedSchema : undefined;
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return required.every((name) => isObject(content) && content[String(name)] !== undefined);
}
