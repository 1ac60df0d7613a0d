// What waits for a person to accept it, for those who show it and those who accept it as it was shown.
import { acceptPin, acceptedForms, isRemoved, isWaiting, keyOf, waitingForms } from './pin-record.ts';
import type { PinStore } from './pin-store.ts';
import type { Pin, PinRecord } from './pin.ts';

export interface KeptPins {
  record: PinRecord;
  store: PinStore;
}

/** Something that waits to be accepted, as it was when it was read. */
export interface WaitingPin {
  store: PinStore;
  server: string;
  pin: Pin;
}

export function waitingIn({ store, record }: KeptPins): WaitingPin[] {
  const pins = Object.values(record.pins).filter(isWaiting);
  return pins.map((pin) => ({ store, server: record.server, pin }));
}

export function stateOf(pin: Pin): 'removed' | 'changed' | 'new' {
  if (isRemoved(pin)) return 'removed';
  return acceptedForms(pin).length > 0 ? 'changed' : 'new';
}

/** Only what is still as it was shown; returns how many. */
export function acceptShown(record: PinRecord, shown: readonly WaitingPin[]): number {
  const same = shown.filter(({ pin }) => {
    const now = record.pins[keyOf(pin)];
    return now !== undefined && digestsOf(now) === digestsOf(pin) && isRemoved(now) === isRemoved(pin);
  });
  for (const { pin } of same) acceptPin(record, keyOf(pin));
  return same.length;
}

export function digestsOf(pin: Pin): string {
  const digests = waitingForms(pin).map(({ digest }) => digest);
  return digests.toSorted().join(' ');
}
