// A session as it lies in memory: a few short texts. What waits in it is one text for all sessions that wait with the same, and goes
// with the last of them.
import type { Entry, Header } from '../journal.ts';
import { Packing } from './packing.ts';
import { patched } from './patched.ts';
import { isEnded } from './store.ts';

export interface Packed {
  rev: number;
  principal: string;
  /** All else but what waits. */
  header: string;
  current: Shared | undefined;
  /** With commas between them; undefined once it has ended. */
  entries: string | undefined;
}

interface Shared {
  readonly text: string;
  uses: number;
}

export class SessionPacking {
  readonly #headers = new Packing({
    common: ['tool', 'version', 'state', 'via'],
    not: ['id', 'principal', 'rev', 'current'],
  });
  readonly #entries = new Packing({ common: ['t', 'ty', 'src', 'via', 'no'] });
  readonly #shared = new Map<string, Shared>();

  pack(header: Header, entries: Entry[]): Packed {
    const { rev, principal, current } = header;
    const packed: Packed = { rev, principal, header: '', current: this.#share(current), entries: '' };
    packed.header = this.#headers.pack(header);
    this.add(packed, entries);
    return packed;
  }

  headerOf(id: string, packed: Packed): Header {
    const header = this.#withoutCurrent(id, packed);
    header.current = packed.current === undefined ? [] : (JSON.parse(packed.current.text) as unknown[]);
    return header;
  }

  entriesOf({ entries = '' }: Packed): Entry[] {
    return this.#entries.unpackAll(entries) as unknown as Entry[];
  }

  /** What the header is now. */
  patch(id: string, packed: Packed, patch: Partial<Header>): Header {
    const header = patched(this.#withoutCurrent(id, packed), patch);
    packed.rev = header.rev;
    packed.header = this.#headers.pack(header);
    if (!isEnded(header) && patch.current === undefined) return header;
    this.release(packed);
    packed.current = this.#share(header.current);
    return header;
  }

  /** Without this member of its header. */
  remove(packed: Packed, name: keyof Header): void {
    const { [name]: _, ...rest } = this.#headers.unpack(packed.header);
    packed.header = this.#headers.pack(rest);
  }

  add(packed: Packed, entries: Entry[]): void {
    const texts = entries.map((entry) => this.#entries.pack(entry));
    // A text that is joined is one piece; one that is added to is a chain of all that it was.
    packed.entries = (packed.entries ? [packed.entries, ...texts] : texts).join(',');
  }

  /** Nothing of it waits any more. */
  release(packed: Packed): void {
    const { current } = packed;
    packed.current = undefined;
    if (current && --current.uses === 0) this.#shared.delete(current.text);
  }

  #withoutCurrent(id: string, { header, principal, rev }: Packed): Header {
    const rest = this.#headers.unpack(header) as unknown as Header;
    rest.id = id;
    rest.principal = principal;
    rest.rev = rev;
    return rest;
  }

  #share(current: unknown[]): Shared | undefined {
    if (current.length === 0) return undefined;
    const text = JSON.stringify(current);
    let shared = this.#shared.get(text);
    if (!shared) this.#shared.set(text, (shared = { text, uses: 0 }));
    shared.uses++;
    return shared;
  }
}
