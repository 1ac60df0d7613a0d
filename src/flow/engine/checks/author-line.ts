// The author's own line in a stack: the first that is neither Parley's nor Node's.
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { captureStack } from '../tracer.ts';

/** Where the code of Parley is: `src/`, or `dist/` once it is built. */
const OWN = toOwnFolder(fileURLToPath(import.meta.url));
/** `at name (place)`, or `at place`. */
const PLACE = /^\s*at (?:.* \((?<called>.*)\)|(?:async )?(?<bare>\S*))$/;
const LINE = /:\d+:\d+$/;

/** Path, line and column of what is run at this moment, or of a stack; undefined where nothing in it is the author's. */
export function findAuthorLine(frames: readonly string[] = captureStack()): string | undefined {
  return frames.map(toPlace).find((place) => place !== undefined && !place.startsWith(OWN));
}

/** Of the code that has made the error, or has called what did. */
export function authorLineOf({ stack = '' }: Error): string | undefined {
  return findAuthorLine(stack.split('\n'));
}

function toPlace(frame: string): string | undefined {
  const { called, bare } = PLACE.exec(frame)?.groups ?? {};
  const place = called ?? bare ?? '';
  if (!LINE.test(place) || place.startsWith('node:')) return undefined;
  return place.startsWith('file://') ? toPath(place) : place;
}

function toPath(place: string): string {
  const [line = ''] = LINE.exec(place) ?? [];
  return fileURLToPath(place.slice(0, -line.length)) + line;
}

function toOwnFolder(file: string): string {
  const folders = ['src', 'dist'].map((name) => file.lastIndexOf(`${sep}${name}${sep}`) + name.length + 2);
  return file.slice(0, Math.max(...folders));
}
