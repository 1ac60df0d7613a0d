// The world that the flows of examples/durable-flows act on: a folder with tables and reports, and a company that
// receives messages.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { changesIn, startCompany } from '../../../examples/durable-flows/company.ts';
import type { Change } from '../../../examples/durable-flows/company.ts';
import { removeFolder } from '../remove-folder.ts';

const TABLES = ['events', 'orders', 'users'];

export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Creates tables for a tenant. */
  settle(who: string): void;
  /** All messages to the company. */
  changes(): Promise<Change[]>;
  /** All effects for one tenant: the messages to the company, in order and with repetitions, and the files. */
  traces(who: string): Promise<{ changes: string[]; files: string[] }>;
}

export async function createWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-durable-'));
  const [data, reports, changes] = [join(folder, 'data'), join(folder, 'reports'), join(folder, 'changes.jsonl')];
  const company = await startCompany(changes);
  for (const place of [data, reports]) mkdirSync(place);
  return {
    folder,
    env: { DATA: data, REPORTS: reports, COMPANY_URL: company.url },
    settle(who) {
      const home = join(data, 'eu', who);
      mkdirSync(home, { recursive: true });
      for (const table of TABLES) writeFileSync(join(home, `${table}.jsonl`), `{"table":"${table}"}\n`);
    },
    changes: () => changesIn(changes),
    async traces(who) {
      const told = (await changesIn(changes)).filter(({ about }) => about === who);
      const files = [data, reports].flatMap(filesIn).map((path) => relative(folder, path));
      const isTheirs = (path: string): boolean =>
        path.split(/[/.]/).some((part) => part.replace(/-[\w-]{43}$/, '') === who);
      return {
        changes: told.map(({ what, to }) => (what === 'watch' ? what : `${what} ${to}`)),
        files: files.filter(isTheirs).toSorted(),
      };
    },
    async [Symbol.asyncDispose]() {
      await company.close();
      removeFolder(folder);
    },
  };
}

function filesIn(place: string): string[] {
  const entries = readEntries(place);
  return entries.flatMap((entry) => {
    const path = join(place, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** Another play's folder may be deleted meanwhile. */
function readEntries(place: string): Dirent[] {
  try {
    return readdirSync(place, { withFileTypes: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}
