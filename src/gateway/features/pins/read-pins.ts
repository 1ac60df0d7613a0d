// Reads the content of a pin file, also one of before 0.2: there, each era and each kind of client had a baseline of its own, which a server could get by
// changing its era. Of those files the strictest reading counts: accepted is what was first seen in the era that was first seen, and what another era
// has beside it waits for a person.
import { isSameEra } from '../../../mcp/eras/revisions.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Pin, PinArea, PinForm, PinRecord, PinnedDefinition } from './pin.ts';

/** A pin of an older file, whose key had its era. */
interface EraPin {
  era: string;
  area: PinArea;
  name: string;
  pinned?: PinnedDefinition;
  seen?: PinnedDefinition;
  like?: string;
  mayChangeThings?: true;
  kinds: string[];
}

/** Undefined if it is not the content of a pin file. */
export function toPinRecord(read: unknown): PinRecord | undefined {
  if (!isObject(read)) return undefined;
  const { gateway, server, address, known, pins } = read;
  const isNamed = typeof gateway === 'string' && typeof server === 'string' && typeof address === 'string';
  if (!isNamed || !Array.isArray(known) || !isObject(pins)) return undefined;
  const all = Object.values(pins);
  if (all.every(isPin) && known.every((one) => typeof one === 'string' && !one.includes(' ')))
    return read as unknown as PinRecord;
  return all.every(isEraPin) ? { ...(read as unknown as PinRecord), ...fromEraPins(all, known) } : undefined;
}

function isPin(one: unknown): boolean {
  if (!isObject(one) || typeof one.name !== 'string' || !Array.isArray(one.forms)) return false;
  return one.forms.every((form) => isObject(form) && Array.isArray(form.listings));
}

function isEraPin(one: unknown): one is EraPin & JsonObject {
  return isObject(one) && typeof one.name === 'string' && typeof one.era === 'string' && Array.isArray(one.kinds);
}

function fromEraPins(all: readonly EraPin[], known: readonly unknown[]): Pick<PinRecord, 'known' | 'pins'> {
  const firstEras = new Map<PinArea, EraPin>();
  for (const pin of all) {
    const first = firstEras.get(pin.area);
    if (pin.pinned && (!first || pin.pinned.at < first.pinned!.at)) firstEras.set(pin.area, pin);
  }
  const pins: Record<string, Pin> = {};
  for (const old of all.toSorted((a, b) => rank(a) - rank(b))) {
    const key = `${old.area} ${old.name}`;
    const pin: Pin = pins[key] ?? { area: old.area, name: old.name, forms: [] };
    addForms(pin, old, rank(old) === 0);
    if (old.mayChangeThings) pin.mayChangeThings = true;
    if (old.like !== undefined) pin.like = old.like;
    if (pin.forms.length > 0) pins[key] = pin;
  }
  const areas = known.map((one) => String(one).split(' ')[1]!);
  return { known: [...new Set(areas)], pins };

  function rank({ era, area }: EraPin): number {
    return isSameEra(era, firstEras.get(area)?.era) ? 0 : 1;
  }
}

/** `isFirst`: its era is the first that was seen. */
function addForms(pin: Pin, { era, pinned, seen, kinds }: EraPin, isFirst: boolean): void {
  const listings = kinds.map((kind) => `${era} ${kind}`);
  if (pinned) addForm(pin, { ...pinned, listings: seen ? [] : listings, ...(isFirst && { isAccepted: true }) });
  if (seen) addForm(pin, { ...seen, listings });
}

function addForm(pin: Pin, form: PinForm): void {
  const same = pin.forms.find(({ digest }) => digest === form.digest);
  if (same) same.listings.push(...form.listings);
  else if (form.isAccepted || form.listings.length > 0) pin.forms.push(form);
}
