// What the server lists to this gateway now. The record is shared: other gateways, whose server may list the same names differently, write what they see
// there, and may forget what is listed here. Each gateway judges by its own lists what was not accepted, and by the record what it has not listed yet.
import { BoundedMap } from '../../../kernel/containers/bounded-map.ts';
import { MAX_PINS } from '../../../kernel/base/limits.ts';
import { acceptedForms, formOf, keyOf } from './pin-record.ts';
import type { ListedDefinition, SeenPage } from './pin-record.ts';
import type { Pin, PinRecord } from './pin.ts';

interface OwnName {
  pin: Pin;
  /** What is listed for each era and kind of client. */
  listed: Map<string, Pick<ListedDefinition, 'definition' | 'formerDigest'>>;
}

export class OwnListings {
  readonly #names = new BoundedMap<string, OwnName>(MAX_PINS);

  /** Returns whether that is something else than before. */
  note({ area, listing, entries, names }: Omit<SeenPage, 'isBaseline'>): boolean {
    let isNew = false;
    for (const { name, definition, formerDigest } of entries) {
      const key = keyOf({ area, name });
      const own = this.#names.get(key) ?? { pin: { area, name, forms: [] }, listed: new Map() };
      isNew ||= own.listed.get(listing)?.definition.digest !== definition.digest;
      own.listed.set(listing, { definition, formerDigest });
      this.#names.set(key, own);
    }
    if (!names) return isNew;
    for (const [key, { pin, listed }] of this.#names.entries()) {
      if (pin.area !== area || names.has(pin.name) || !listed.delete(listing)) continue;
      isNew = true;
      if (listed.size === 0) this.#names.delete(key);
    }
    return isNew;
  }

  /** The pins of a record, with what waits here in place of what waits elsewhere. */
  pinsWith({ pins }: PinRecord): Pin[] {
    const own = [...this.#names.entries()].map(([key, name]) => withOwn(pins[key] ?? name.pin, name));
    const isOwn = new Set(own.map(keyOf));
    return [...own, ...Object.values(pins).filter((pin) => !isOwn.has(keyOf(pin)))];
  }
}

function withOwn(pin: Pin, { listed }: OwnName): Pin {
  const accepted = acceptedForms(pin);
  const waiting = [...listed].filter(([, one]) => formOf({ ...pin, forms: accepted }, one) === undefined);
  const forms = waiting.map(([listing, { definition }]) => ({ ...definition, listings: [listing] }));
  return { ...pin, forms: [...accepted, ...forms] };
}
