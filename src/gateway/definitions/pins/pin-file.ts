// The files with pins: one for each server of each gateway, in the user's state folder. Only its owner can read one. A file is replaced whole,
// under a lock, by what is made of its latest content, so gateways and `parley pins` can write at the same time.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/files/file-lock.ts';
import { readIfThere, writePrivateFile } from '../../../shared/files/private-file.ts';
import { MAX_PIN_FILE_BYTES } from '../../../shared/limits.ts';
import { pinDigest } from './pin-record.ts';
import type { Pin, PinRecord } from './pin-record.ts';

const ENDING = '.pins.json';
const WAIT_MS = 5000;

export function pinFolder(stateFolder: string): string {
  return join(stateFolder, 'pins');
}

export function pinFile(folder: string, { gateway, server }: Pick<PinRecord, 'gateway' | 'server'>): string {
  return join(folder, `${pinDigest(JSON.stringify([gateway, server])).slice(0, 22)}${ENDING}`);
}

export function listPinFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ENDING));
    return names.toSorted().map((name) => join(folder, name));
  } catch {
    return []; // nothing has been pinned yet
  }
}

/** Undefined if there is no file. Throws if it cannot be understood, so that it is never overwritten. */
export function readPinFile(path: string): PinRecord | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const record: unknown = JSON.parse(text);
  if (isRecord(record)) return record;
  throw new GatewayError('BAD_OPTION', { option: 'stateFolder', reason: `${path} is not a file of \`parley pins\`` });
}

/** Tells versions of the file apart without reading it. */
export function versionOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${mtimeMs} ${size}`;
}

/** Writes what `change` makes of the latest record. */
export function updatePinFile(path: string, change: (latest: PinRecord | undefined) => PinRecord): Promise<PinRecord> {
  const onLate = () => new GatewayError('BAD_OPTION', { option: 'pins', reason: `another process holds ${path}` });
  return withFileLock({ path: `${path}.lock`, waitMs: WAIT_MS, onLate }, async () => {
    const next = change(readPinFile(path));
    const text = JSON.stringify(next, undefined, 1);
    writePrivateFile(path, `${text.length <= MAX_PIN_FILE_BYTES ? text : JSON.stringify(withoutValues(next))}\n`);
    return next;
  });
}

/** What is needed to compare, without what is only for people. */
export function withoutValues(record: PinRecord): PinRecord {
  const pins = Object.entries(record.pins).map(([key, pin]): [string, Pin] => {
    const { pinned, seen } = pin;
    return [key, { ...pin, ...(pinned && { pinned: bare(pinned) }), ...(seen && { seen: bare(seen) }) }];
  });
  return { ...record, pins: Object.fromEntries(pins) };
}

function bare<T extends { value?: unknown }>({ value: _, ...rest }: T): Omit<T, 'value'> {
  return rest;
}

function isRecord(value: unknown): value is PinRecord {
  if (!isObject(value)) return false;
  const { gateway, server, address, known, pins } = value;
  const isPin = (one: unknown): boolean => isObject(one) && typeof one.name === 'string' && Array.isArray(one.kinds);
  const isNamed = typeof gateway === 'string' && typeof server === 'string' && typeof address === 'string';
  return isNamed && Array.isArray(known) && isObject(pins) && Object.values(pins).every(isPin);
}
