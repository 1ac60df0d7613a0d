// Makes a folder with a tenant to move, starts the company, and says what the server has to be told of both. Ends with Ctrl+C.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCompany } from './company.ts';

const folder = mkdtempSync(join(tmpdir(), 'durable-flows-'));
const home = join(folder, 'data', 'eu', 'acme');
mkdirSync(home, { recursive: true });
for (const table of ['events', 'orders', 'users'])
  writeFileSync(join(home, `${table}.jsonl`), `{"table":"${table}"}\n`);
const { url } = await startCompany(join(folder, 'changes.jsonl'), { busy: 4 });

console.log(`export COMPANY_URL=${url}`);
console.log(
  `export DATA=${join(folder, 'data')} REPORTS=${join(folder, 'reports')} FLOW_STORE=${join(folder, 'flows.db')}`,
);
