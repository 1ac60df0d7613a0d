// Values that stand outside of the configuration: the content of a file, ${file:…}, and the output of a command, ${cmd:…}. A command is
// started without a shell, and only for the user's own file: the author of a project's file must not be able to run programs by it being read.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { MAX_SECRET_FILE_BYTES } from '../../shared/limits.ts';
import { readRegularFile } from './read-regular-file.ts';

/** Throws an Error that says what went wrong, without any of the content. */
export type SecretSource = (text: string) => string;

const TIMEOUT_MS = 30_000;

/** `~/` is the home folder; other paths are relative to the file. */
export function readSecretFile(written: string, { folder, home }: { folder: string; home: string }): string {
  const path = written.startsWith('~/') ? resolve(home, written.slice(2)) : resolve(folder, written);
  const content = attempt(() => readRegularFile(path, MAX_SECRET_FILE_BYTES), `the file ${written} cannot be read`);
  return withoutNewline(content.toString('utf8'));
}

/** Its output without the last line break. What it writes to stderr is shown to the user. */
export function runSecretCommand(written: string, env: Readonly<Record<string, string | undefined>>): string {
  const [command, ...args] = toWords(written);
  if (command === undefined) throw new Error('${cmd:…} names no command');
  const options = { env: { ...env }, encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: MAX_SECRET_FILE_BYTES } as const;
  const run = () =>
    execFileSync(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'], windowsHide: true });
  const value = withoutNewline(attempt(run, `the command ${command} failed`));
  if (value === '') throw new Error(`the command ${command} printed nothing`);
  return value;
}

/** Words are separated by spaces; quotes keep them together. */
export function toWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double, single) => String(double ?? single)));
}

function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch (thrown) {
    const { code, status, signal } = thrown as { code?: string; status?: number | null; signal?: string | null };
    const why = code ?? (typeof status === 'number' ? `exit code ${status}` : (signal ?? 'unknown'));
    throw new Error(`${problem} (${why})`, { cause: thrown });
  }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}
