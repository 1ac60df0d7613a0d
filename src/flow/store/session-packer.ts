// Packs sessions of the memory store into short texts. Sessions with the same open questions share one text for them. Recently written sessions
// stay unpacked ("loose"), since they are often used again at once. Callers never share objects with the store.
import { isEnded, patchHeaderInPlace } from '../header.ts';
import type { JournalEntry, Header } from '../journal.ts';

export interface PackedSession {
  rev: number;
  principal: string;
  share: string | undefined;
  /** The header without `current`. */
  header: string;
  current: Shared | undefined;
  /** While present, it replaces `header` and `current`, and has more entries. */
  loose: Loose | undefined;
  /** Joined by commas; undefined once the session has ended. */
  entries: string | undefined;
}

interface Shared {
  readonly text: string;
  uses: number;
}

interface Loose {
  /** Without `current`. */
  header: Header;
  current: string | undefined;
  /** Entries as JSON, joined by commas. */
  added: string[];
}

/** One or two KB each. */
const MAX_LOOSE = 500;
const NOTHING: unknown[] = [];

export class SessionPacker {
  readonly #headers = new ObjectPacker({
    common: ['tool', 'version', 'state', 'via'],
    not: ['id', 'principal', 'share', 'rev', 'current'],
  });
  readonly #entries = new ObjectPacker({ common: ['t', 'ty', 'src', 'via', 'no'] });
  readonly #shared = new Map<string, Shared>();
  /** Oldest first. */
  readonly #loose = new Set<PackedSession>();

  pack(header: Header, entries: JournalEntry[]): PackedSession {
    const { rev, principal, share, current } = header;
    const whose = { principal, share };
    const packed: PackedSession = { rev, ...whose, header: '', current: undefined, loose: undefined, entries: '' };
    this.#loosen(packed, { header: withOwnObjects({ ...header }, header), current: toText(current), added: [] });
    this.add(packed, entries);
    return packed;
  }

  headerOf(id: string, packed: PackedSession): Header {
    const { loose } = packed;
    const header = loose ? withOwnObjects({ ...loose.header }, loose.header) : this.#withoutCurrent(id, packed);
    const current = loose ? loose.current : packed.current?.text;
    header.current = current === undefined ? [] : (JSON.parse(current) as unknown[]);
    return header;
  }

  entriesOf({ entries = '', loose }: PackedSession): JournalEntry[] {
    const first = entries === '' ? [] : (this.#entries.unpackAll(entries) as unknown as JournalEntry[]);
    return loose && loose.added.length > 0 ? [...first, ...fromTexts(loose.added)] : first;
  }

  /** Returns the new header, without `current`. */
  patch(id: string, packed: PackedSession, patch: Partial<Header>): Readonly<Header> {
    const loose = packed.loose ?? {
      header: this.#withoutCurrent(id, packed),
      current: packed.current?.text,
      added: [],
    };
    const header = withOwnObjects(patchHeaderInPlace(loose.header, patch), patch);
    packed.rev = header.rev;
    if (isEnded(header)) {
      loose.current = undefined;
      loose.added = [];
    } else if (patch.current) loose.current = toText(patch.current);
    this.#loosen(packed, loose);
    return header;
  }

  /** Removes a member of the header. */
  remove(packed: PackedSession, name: keyof Header): void {
    this.#tie(packed);
    const { [name]: _, ...rest } = this.#headers.unpack(packed.header);
    packed.header = this.#headers.pack(rest);
  }

  add(packed: PackedSession, entries: JournalEntry[]): void {
    if (entries.length === 0) return;
    if (packed.loose) packed.loose.added.push(JSON.stringify(entries).slice(1, -1));
    else this.#addPacked(packed, entries);
  }

  #addPacked(packed: PackedSession, entries: JournalEntry[]): void {
    const texts = entries.map((entry) => this.#entries.pack(entry));
    // `join` makes a flat string; `+` would keep a chain of all parts.
    packed.entries = (packed.entries ? [packed.entries, ...texts] : texts).join(',');
  }

  forget(packed: PackedSession): void {
    this.#loose.delete(packed);
    this.#release(packed);
  }

  clear(): void {
    this.#loose.clear();
    this.#shared.clear();
  }

  #loosen(packed: PackedSession, loose: Loose): void {
    loose.header.current = NOTHING;
    if (packed.loose) return;
    packed.loose = loose;
    this.#release(packed);
    this.#loose.add(packed);
    if (this.#loose.size <= MAX_LOOSE) return;
    const [oldest] = this.#loose;
    this.#tie(oldest!);
  }

  #tie(packed: PackedSession): void {
    const { loose } = packed;
    if (!loose) return;
    packed.loose = undefined;
    this.#loose.delete(packed);
    packed.header = this.#headers.pack(loose.header);
    packed.current = this.#share(loose.current);
    if (loose.added.length > 0) this.#addPacked(packed, fromTexts(loose.added));
  }

  #release(packed: PackedSession): void {
    const { current } = packed;
    packed.current = undefined;
    if (current && --current.uses === 0) this.#shared.delete(current.text);
  }

  #withoutCurrent(id: string, { header, principal, share, rev }: PackedSession): Header {
    const rest = this.#headers.unpack(header) as unknown as Header;
    rest.id = id;
    rest.principal = principal;
    if (share !== undefined) rest.share = share;
    rest.rev = rev;
    return rest;
  }

  #share(text: string | undefined): Shared | undefined {
    if (text === undefined) return undefined;
    let shared = this.#shared.get(text);
    if (!shared) this.#shared.set(text, (shared = { text, uses: 0 }));
    shared.uses++;
    return shared;
  }
}

function toText(current: unknown[]): string | undefined {
  return current.length === 0 ? undefined : JSON.stringify(current);
}

function fromTexts(texts: readonly string[]): JournalEntry[] {
  return JSON.parse(`[${texts.join(',')}]`) as JournalEntry[];
}

/** Copies the objects that were written to the header. */
function withOwnObjects(header: Header, written: Partial<Header>): Header {
  const members = header as unknown as Record<string, unknown>;
  for (const name in written) {
    const value: unknown = written[name as keyof Header];
    const isShared = typeof value === 'object' && value !== null && value === members[name];
    if (isShared && name !== 'current') members[name] = copyOf(value);
  }
  return header;
}

/** Most objects are flat. */
function copyOf(value: object): unknown {
  if (Array.isArray(value) || hasObjects(value)) return JSON.parse(JSON.stringify(value)) as unknown;
  return { ...value };
}

function hasObjects(value: object): boolean {
  for (const name in value) if (typeof (value as Record<string, unknown>)[name] === 'object') return true;
  return false;
}

type Plain = Record<string, unknown>;

interface Shape {
  /** An object with the common members of this shape. */
  common: Plain;
  /** Names of the members whose values are in the text, in order. */
  own: string[];
}

/** Beyond this number, objects are stored as JSON. */
const MAX_SHAPES = 5000;
const WHOLE = -1;

/**
 * Packs plain objects into short texts. The names of their members, and values that are often the same, are stored once as a shape; the text
 * has the number of the shape and the other values. Like JSON, it drops undefined members and keeps everything else.
 */
class ObjectPacker {
  readonly #common: ReadonlySet<string>;
  readonly #not: ReadonlySet<string>;
  readonly #numbers = new Map<string, number>();
  readonly #shapes: Shape[] = [];

  /** `common`: members with few different string values. `not`: members to leave out. */
  constructor({ common, not = [] }: { common: string[]; not?: string[] }) {
    this.#common = new Set(common);
    this.#not = new Set(not);
  }

  pack(object: object): string {
    let kind = '';
    const values: unknown[] = [0];
    for (const name in object) {
      const value = (object as Plain)[name];
      if (value === undefined || this.#not.has(name)) continue;
      if (typeof value === 'string' && this.#common.has(name)) kind += `${name}=${value.length}:${value}\n`;
      else {
        kind += `${name}\n`;
        values.push(value);
      }
    }
    const number = this.#numbers.get(kind) ?? this.#add(kind, object as Plain);
    values[0] = number;
    return JSON.stringify(number === WHOLE ? [WHOLE, object] : values);
  }

  unpack(packed: string): Plain {
    return this.#of(JSON.parse(packed) as unknown[]);
  }

  /** Unpacks texts that are joined by commas. */
  unpackAll(packed: string): Plain[] {
    return (JSON.parse(`[${packed}]`) as unknown[][]).map((values) => this.#of(values));
  }

  #of(values: unknown[]): Plain {
    const shape = this.#shapes[values[0] as number];
    if (!shape) return values[1] as Plain;
    const object = { ...shape.common };
    const { own } = shape;
    for (let at = 0; at < own.length; at++) object[own[at] as string] = values[at + 1];
    return object;
  }

  #add(kind: string, object: Plain): number {
    if (this.#shapes.length >= MAX_SHAPES) return WHOLE;
    const shape: Shape = { common: {}, own: [] };
    for (const name in object) {
      const value = object[name];
      if (value === undefined || this.#not.has(name)) continue;
      const isCommon = typeof value === 'string' && this.#common.has(name);
      shape.common[name] = isCommon ? value : undefined;
      if (!isCommon) shape.own.push(name);
    }
    this.#numbers.set(kind, this.#shapes.length);
    return this.#shapes.push(shape) - 1;
  }
}
