// Keeps HTTP sessions usable after a restart. Official clients never initialize twice, so a later process needs the
// parameters of `initialize`. A journal in the state folder keeps them. Without such a folder the session id carries
// them, sealed with keys that outlive the process.
// 1. A session is restored at most once, and only until it would have expired.
// 2. A deleted or expired session is not restored. Without a state folder only this process knows which ones those are.
// 3. Without durable keys, or when its parameters are too long, a session ends with its process.
// The journal comes first because its ids are short and need no cryptography, which would delay the first answer.
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { SettingChange } from '../../eras/serve/conversation.ts';
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { SessionJournal } from './session-journal.ts';
import type { SessionSettings } from './session-journal.ts';

export interface SessionName {
  /** The `Mcp-Session-Id` that the client sends. */
  id: string;
  /** Identifies the session in this process and in later ones. */
  key: string;
}

interface DurableSession extends SessionSettings {
  key: string;
  /** The parameters of `initialize`. */
  opening: JsonObject;
}

const PURPOSE = 'http-session';
/** Some proxies accept only 4 or 8 KiB of headers in total. */
const MAX_ID_CHARS = 2000;
/** The largest `initialize` parameters, as JSON, that fit into such an id. */
const MAX_SEALED_CHARS = 1350;
/** The largest ones in the journal. */
const MAX_JOURNAL_CHARS = 4000;
/** Limits without a journal: the age of a session and how many are restored. */
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

  /** `binding` says who may use the session, and where. */
  name(opening: JsonObject, binding: string): SessionName {
    const key = randomId();
    const { sealer, clock } = this.#context;
    if (this.#journal || !sealer.durable) return { id: key, key };
    const chars = JSON.stringify(opening).length;
    const sealed = { k: key, p: this.#process, t: clock.now(), o: opening };
    const id = chars > MAX_SEALED_CHARS ? undefined : sealer.seal(PURPOSE, binding, sealed);
    if (id !== undefined && id.length <= MAX_ID_CHARS) return { id, key };
    this.#reportLong(chars);
    return { id: key, key };
  }

  /** The session of an earlier process that this id restores; undefined for every other id. */
  find(id: string, binding: string): DurableSession | undefined {
    if (this.#isLate || id.length > MAX_ID_CHARS) return undefined;
    if (!this.#journal) return this.#unseal(id, binding);
    const kept = this.#journal.find(id);
    return kept?.binding === binding ? { ...kept, key: id } : undefined;
  }

  begin({ key }: SessionName, opening: JsonObject, binding: string): void {
    if (!this.#journal) return;
    const chars = JSON.stringify(opening).length;
    if (chars > MAX_JOURNAL_CHARS) this.#reportLong(chars);
    else this.#journal.begin(key, { binding, opening, subscriptions: new Set() });
  }

  #unseal(id: string, binding: string): DurableSession | undefined {
    const { sealer, clock } = this.#context;
    if (!sealer.durable) return undefined;
    const sealed = sealer.open(PURPOSE, binding, id);
    const { k: key, p, t, o: opening } = isObject(sealed) ? sealed : {};
    if (typeof key !== 'string' || p === this.#process || !isObject(opening)) return undefined;
    const isOld = typeof t !== 'number' || t < clock.now() - MAX_AGE_MS;
    if (isOld || this.#takenOver.has(key) || this.#takenOver.size >= MAX_TAKEN_OVER) return undefined;
    return { key, opening, subscriptions: new Set() };
  }

  #reportLong(chars: number): void {
    this.#context.log.info({ chars }, 'session.not-kept');
  }

  takeOver(key: string): void {
    this.#takenOver.add(key);
    this.#journal?.takeOver(key);
  }

  change(key: string, change: SettingChange): void {
    this.#journal?.change(key, change);
  }

  /** The session was deleted or has expired. */
  end(key: string): void {
    this.#journal?.end(key);
  }

  close(): void {
    this.#stopWaiting();
    this.#journal?.close();
  }
}
