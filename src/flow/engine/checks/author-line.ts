// Finds the author's line in a stack: the first that is neither Parley's nor Node's.
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { captureStack } from '../tracer.ts';

/** The folder of Parley's code: `src/`, or `dist/` after the build. */
const OWN = toOwnFolder(fileURLToPath(import.meta.url));
/** `at name (place)`, or `at place`. */
const PLACE = /^\s*at (?:.* \((?<called>.*)\)|(?:async )?(?<bare>\S*))$/;
const LINE = /:\d+:\d+$/;

/** Path, line and column in the current or given stack; undefined if no frame is the author's. */
export function findAuthorLine(frames: readonly string[] = captureStack()): string | undefined {
  return frames.map(toPlace).find((place) => place !== undefined && !place.startsWith(OWN));
}

/** The author's line that created the error, or called the code that did. */
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
