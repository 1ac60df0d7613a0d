// Finds the author's line in a stack: neither Parley's own code nor Node's, and rather not a package that the author uses.
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const FRAMES = 50;
const PACKAGES = /[\\/]node_modules[\\/]/;
/** Tests beside Parley's code have flows of their own. */
const TESTS = /\.test\.[jt]s:/;
/** The folder of Parley's code: `src/`, or `dist/` after the build. */
export const OWN_FOLDER = toOwnFolder(fileURLToPath(import.meta.url));
/** `at name (place)`, or `at place`. */
const PLACE = /^\s*at (?:.* \((?<called>.*)\)|(?:async )?(?<bare>\S*))$/;
const LINE = /:\d+:\d+$/;

/** Path, line and column in the current or given stack; undefined if no frame is the author's. */
export function findAuthorLine(frames: readonly string[] = captureStack()): string | undefined {
  const frame = findAuthorFrame(frames);
  return frame === undefined ? undefined : toPlace(frame);
}

/** The author's line that created the error, or called the code that did. */
export function authorLineOf(error: Error): string | undefined {
  try {
    const { stack } = error;
    return typeof stack === 'string' ? findAuthorLine(stack.split('\n')) : undefined;
  } catch {
    return undefined; // a getter of the author
  }
}

/** It is a line of a package, such as a schema library. */
export function isPackageLine(line: string): boolean {
  return PACKAGES.test(line);
}

export function findAuthorFrame(frames: readonly string[]): string | undefined {
  const foreign = frames.filter(isForeign);
  return foreign.find((frame) => !PACKAGES.test(frame)) ?? foreign[0];
}

export function captureStack(): string[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const { stack = '' } = new Error('where');
  Error.stackTraceLimit = limit;
  return stack.split('\n').slice(1);
}

function isForeign(frame: string): boolean {
  const place = toPlace(frame);
  return place !== undefined && (!place.startsWith(OWN_FOLDER) || TESTS.test(place));
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
