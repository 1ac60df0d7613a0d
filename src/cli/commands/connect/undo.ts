// `parley connect --undo`: every file gets the bytes that it had. A file that has changed since is left as it is, and what changed is shown.
import type { Environment } from '../../../config/read/find-config.ts';
import { stateFolder } from '../../../kernel/secrets/own-folders.ts';
import { displayPath } from '../../environment.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { withoutUnmade } from './apply-plans.ts';
import { Ledger } from './ledger.ts';
import type { FileRecord, LedgerState, OwnRecord } from './ledger.ts';
import { digestOf, readBytes, removeLeftover, replaceFile } from './safe-file.ts';
import { secretsIn, showDiff } from './show-diff.ts';
import { readClientText } from './client-edit.ts';

interface UndoOptions {
  /** Ids of clients; empty: all. */
  clients: readonly string[];
  isDryRun: boolean;
  environment: Environment;
}

/** The caller holds the lock. The exit status. */
export function undoConnect({ clients, isDryRun, environment }: UndoOptions, print: Printer): number {
  const ledger = new Ledger(stateFolder(environment));
  const known = ledger.read();
  for (const path of new Set(known.files.map((record) => record.path))) removeLeftover(path);
  let { own, files } = withoutUnmade(known);
  const isWanted = ({ client }: FileRecord): boolean => clients.length === 0 || clients.includes(client);
  const wanted = files.filter(isWanted);
  if (wanted.length === 0 && (own === undefined || files.length > 0)) {
    print.line('There is nothing to take back.');
    return 0;
  }
  let failures = 0;
  for (const record of wanted.toReversed()) {
    if (!takeBack(record, { ledger, isDryRun }, print)) failures++;
    else if (!isDryRun) {
      files = files.filter((one) => one !== record);
      ledger.write({ own, files });
    }
  }
  if (isDryRun) return failures > 0 ? 1 : 0;
  own = finishOwn({ own, files }, ledger, print);
  ledger.write({ own, files });
  return failures > 0 ? 1 : 0;
}

interface TakingBack {
  ledger: Ledger;
  isDryRun: boolean;
}

/** False if it was refused; the reason has been printed. */
function takeBack({ path, before, after }: FileRecord, { ledger, isDryRun }: TakingBack, print: Printer): boolean {
  try {
    const now = readBytes(path);
    if (digestOf(now) !== after) {
      print.problem(`${displayPath(path)} has changed since, and is left as it is. What changed:`);
      showChange({ path, from: ledger.bytesOf(after), to: now }, print);
      return false;
    }
    const bytes = ledger.bytesOf(before);
    if (isDryRun) showChange({ path, from: now, to: bytes }, print);
    else replaceFile(path, { bytes, expected: after });
    print.line(`${isDryRun ? 'Would be' : 'Is'} as it was: ${displayPath(path)}`);
    return true;
  } catch (thrown) {
    print.problem(`${displayPath(path)}: ${(thrown as Error).message}.`);
    return false;
  }
}

function showChange(
  { path, from, to }: { path: string; from: Buffer | undefined; to: Buffer | undefined },
  print: Printer,
): void {
  const [before, after] = [from, to].map((bytes) => bytes?.toString('utf8') ?? '') as [string, string];
  const secrets = new Set([before, after].flatMap((text) => [...secretsOf(text, path)]));
  showDiff({ path: displayPath(path), before, after, secrets }, print);
}

function secretsOf(text: string, path: string): Set<string> {
  const [, ending = 'json'] = /\.(toml|ya?ml)$/i.exec(path) ?? [];
  const format = ending === 'toml' ? 'toml' : ending === 'json' ? 'json' : 'yaml';
  try {
    return secretsIn(readClientText(text.replace(/^\uFEFF/, ''), format));
  } catch {
    return new Set(text.match(/(?<=["'])[^"'\n]{6,}(?=["'])/g)); // it cannot be read, so nothing of it is shown
  }
}

/** Parley's own configuration goes back when no client needs it any more. */
function finishOwn({ own, files }: LedgerState, ledger: Ledger, print: Printer): OwnRecord | undefined {
  if (own === undefined || files.length > 0) {
    if (own) print.note(`The servers stay in ${displayPath(own.path)}, as other clients use them.`);
    return own;
  }
  const now = digestOf(readBytes(own.path));
  if (now === own.before) return undefined;
  if (own.isEdited === true || now === null || !own.written.includes(now)) {
    print.note(`${displayPath(own.path)} has changes of yours, and stays as it is.`);
    return undefined;
  }
  removeLeftover(own.path);
  replaceFile(own.path, { bytes: ledger.bytesOf(own.before), expected: now });
  print.line(`${own.before === null ? 'Removed' : 'Is as it was'}: ${displayPath(own.path)}`);
  return undefined;
}
