// Lets sessions go on in the next process. Official clients never initialize again, so the id of a session carries what was agreed on,
// sealed with keys that outlive the process. A journal in the state folder, where there is one, says which sessions were alive.
// 1. A session is taken over at most once, and only until it would have expired.
// 2. A session that was deleted or has expired is not taken over. Without a state folder only this process knows which have.
// 3. Without lasting keys, or when its id would be too long for a header, a session ends with its process.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { randomId } from '../../../shared/crypto/ids.ts';
import type { SettingChange } from '../../dialect/serve/conversation.ts';
import type { ServeContext } from '../../dialect/serve/serve-context.ts';
import { SessionJournal } from './session-journal.ts';
import type { SessionSettings } from './session-journal.ts';

export interface SessionName {
  /** What the client sends with every request. */
  id: string;
  /** What the session is known by here, also in later processes. */
  key: string;
}

export interface DurableSession extends SessionSettings {
  key: string;
  /** The parameters of `initialize`. */
  opening: JsonObject;
}

const PURPOSE = 'http-session';
/** Some proxies take no more than 4 or 8 KiB of headers altogether. */
const MAX_ID_CHARS = 2000;
/** As much JSON as fits into such an id beside the rest. */
const MAX_OPENING_CHARS = 1350;
/** Without a journal: how old a session may be, and how many of them are taken over. */
const MAX_AGE_MS = 7 * 24 * 60 * 60_000;
const MAX_TAKEN_OVER = 10_000;

export class DurableSessions {
  readonly #context: ServeContext;
  readonly #process: string = randomId().slice(0, 8);
  readonly #journal: SessionJournal | undefined;
  readonly #takenOver = new Set<string>();
  #isLate = false;
  readonly #stopWaiting: () => void;

  constructor(context: ServeContext) {
    const { sealer, stateFolder, limits, clock, log } = context;
    this.#context = context;
    const idleMs = limits.sessionIdleMs;
    if (sealer.durable && stateFolder !== undefined)
      this.#journal = new SessionJournal({ folder: stateFolder, idleMs, clock, log });
    this.#stopWaiting = clock.after(idleMs, () => {
      this.#isLate = true;
      this.#takenOver.clear();
      this.#journal?.forgetEarlier();
    });
  }

  /** `binding`: who may use it, and where. */
  name(opening: JsonObject, binding: string): SessionName {
    const key = randomId();
    const { sealer, clock, log } = this.#context;
    if (!sealer.durable) return { id: key, key };
    const chars = JSON.stringify(opening).length;
    const sealed = { k: key, p: this.#process, t: clock.now(), o: opening };
    const id = chars > MAX_OPENING_CHARS ? undefined : sealer.seal(PURPOSE, binding, sealed);
    if (id !== undefined && id.length <= MAX_ID_CHARS) return { id, key };
    log.info({ chars }, 'session.not-kept');
    return { id: key, key };
  }

  /** A session of an earlier process that can go on; undefined for every other id. */
  find(id: string, binding: string): DurableSession | undefined {
    const { sealer, clock } = this.#context;
    if (this.#isLate || !sealer.durable || id.length > MAX_ID_CHARS) return undefined;
    const { k: key, p, t, o: opening } = asObject(sealer.open(PURPOSE, binding, id));
    if (typeof key !== 'string' || p === this.#process || !isObject(opening)) return undefined;
    if (this.#journal) {
      const settings = this.#journal.find(key);
      return settings && { ...settings, key, opening };
    }
    const isOld = typeof t !== 'number' || t < clock.now() - MAX_AGE_MS;
    if (isOld || this.#takenOver.has(key) || this.#takenOver.size >= MAX_TAKEN_OVER) return undefined;
    return { key, opening, subscriptions: new Set() };
  }

  begin({ id, key }: SessionName): void {
    if (id !== key) this.#journal?.begin(key); // with a plain id nobody could take it over
  }

  takeOver(key: string): void {
    this.#takenOver.add(key);
    this.#journal?.takeOver(key);
  }

  change(key: string, change: SettingChange): void {
    this.#journal?.change(key, change);
  }

  /** It was deleted, or has expired. */
  end(key: string): void {
    this.#journal?.end(key);
  }

  close(): void {
    this.#stopWaiting();
    this.#journal?.close();
  }
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
