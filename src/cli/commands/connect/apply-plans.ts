// Writes what was planned: first the ledger, then Parley's own configuration, then the files of clients, so that a client leads to Parley only when its
// servers are there. Throws FileChanged, before anything is written, if a file is no longer what was shown.
import type { Environment } from '../../../config/read/find-config.ts';
import { stateFolder } from '../../../kernel/secrets/own-folders.ts';
import { Ledger } from './ledger.ts';
import type { FileRecord, LedgerState, OwnRecord } from './ledger.ts';
import type { ClientPlan } from './plan-client.ts';
import { FileChanged, digestOf, readBytes, removeLeftover, replaceFile } from './safe-file.ts';

export interface OwnPlan {
  path: string;
  before: Buffer | undefined;
  after: Buffer;
}

export interface ConnectPlan {
  own: OwnPlan;
  clients: ClientPlan[];
}

/** The caller holds the lock. Returns what could not be written. */
export function applyPlans({ own, clients }: ConnectPlan, environment: Environment): Map<ClientPlan, Error> {
  const ledger = new Ledger(stateFolder(environment));
  const known = withoutUnmade(ledger.read());
  for (const { path, before } of [own, ...clients.map(({ place, before }) => ({ path: place.path, before }))]) {
    removeLeftover(path);
    if (digestOf(readBytes(path)) !== digestOf(before)) throw new FileChanged(`${path} has changed in the meantime`);
  }
  const files = clients.map(({ place, before, after }): FileRecord => ({
    client: place.client.id,
    path: place.path,
    before: ledger.keep(before),
    after: ledger.keep(after)!,
  }));
  const record = toOwnRecord(known.own, own, ledger);
  ledger.write({ own: record, files: [...known.files, ...files] });
  replaceFile(own.path, { bytes: own.after, expected: digestOf(own.before) });
  return writeClients(clients);
}

function writeClients(clients: ClientPlan[]): Map<ClientPlan, Error> {
  const failed = new Map<ClientPlan, Error>();
  for (const plan of clients) {
    try {
      replaceFile(plan.place.path, { bytes: plan.after, expected: digestOf(plan.before) });
    } catch (thrown) {
      failed.set(plan, thrown as Error);
    }
  }
  return failed;
}

/** Records of changes that were never made, or have been taken back by hand. */
export function withoutUnmade({ own, files }: LedgerState): LedgerState {
  const last = new Map(files.map((record) => [record.path, record]));
  const isMade = (record: FileRecord): boolean =>
    record !== last.get(record.path) || digestOf(readBytes(record.path)) !== record.before;
  const made = files.filter(isMade);
  return made.length === files.length ? { own, files } : withoutUnmade({ own, files: made });
}

function toOwnRecord(known: OwnRecord | undefined, { path, before, after }: OwnPlan, ledger: Ledger): OwnRecord {
  const now = ledger.keep(before);
  const next = ledger.keep(after)!;
  if (known?.path !== path) return { path, before: now, written: [next] };
  const isOurs = now === known.before || (now !== null && known.written.includes(now));
  const isEdited = known.isEdited === true || !isOurs;
  return { ...known, written: [...new Set([...known.written, next])], ...(isEdited && { isEdited }) };
}
