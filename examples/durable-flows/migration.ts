// Moves a tenant to another region: its tables are copied while it is read-only, and it is switched over when a person has agreed. Should
// anything fail, or nobody agree, every step takes itself back, the last one first.
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flow } from 'mcp-parley/flow';
import type { RetryPolicy } from 'mcp-parley/flow';
import { findChange, takeBack, tell } from './company.ts';

const REGIONS = ['eu', 'us', 'asia'] as const;
type Region = (typeof REGIONS)[number];

const retry: RetryPolicy = { attempts: 8, pause: '50ms', maxPause: '5s', on: ['BusyError'] };

export const migration = flow(
  {
    name: 'migrate_tenant',
    description: 'Move a tenant to another region',
    version: '2',
    long: true,
    timeout: '2h',
    // Version 1 called it `repoint`. Sessions that have done that are open while version 2 is deployed.
    migrate: { renamed: { repoint: 'switch' } },
  },
  async (ask) => {
    const tenant = await ask.text('tenant', { message: 'Which tenant?', pattern: /^[a-z][a-z0-9-]*$/ });
    const from = await ask.choice('from', REGIONS, { message: 'Where is it now?' });
    const others = REGIONS.filter((region) => region !== from);
    const to = await ask.choice('to', others, { message: 'Where to?' });
    const tables = await ask.step('tables', () => tablesOf(from, tenant));
    if (tables.length === 0) return { moved: false, reason: `There is nothing of ${tenant} in ${from}` };

    await ask.step('freeze', (step) => tell(step, 'mode', tenant, 'read-only'), {
      effect: 'retry', // the company knows the key again
      retry,
      undo: (_, step) => takeBack(step, 'mode', tenant, 'normal'),
    });
    for (const [index, table] of tables.entries()) {
      ask.progress(index + 1, tables.length + 1, `Copied ${table}`);
      await ask.scope(table).step('copy', () => copy(table, tenant, { from, to }), {
        effect: 'retry', // copied once more it is the same
        timeout: '10m',
        undo: () => rm(join(placeOf(to, tenant), table), { force: true }),
      });
    }
    // Version 1 did not look. Its sessions that are past this point go on without.
    if (ask.version('compare')) await ask.step('compare', () => compare(tables, tenant, { from, to }));

    const message = `Switch ${tenant} to ${to}, and delete its ${tables.length} tables in ${from}? They cannot be brought back.`;
    if (!(await ask.confirm('agreed', { message, by: 'human' }))) throw new Error(`${tenant} stays in ${from}`);
    await ask.step('switch', (step) => tell(step, 'region', tenant, to), {
      effect: 'once', // never told twice: after a crash the company is asked what became of it
      check: async ({ idempotencyKey }) => (await findChange(idempotencyKey)) && to,
      retry,
      undo: (_, step) => takeBack(step, 'region', tenant, from),
    });
    await ask.step('thaw', (step) => tell(step, 'mode', tenant, 'normal'), {
      effect: 'retry',
      retry,
      undo: (_, step) => takeBack(step, 'mode', tenant, 'read-only'),
    });
    // Last of all: nothing can fail after it, and so nothing has to be taken back that needs what is deleted here.
    await ask.step('delete', () => rm(placeOf(from, tenant), { recursive: true, force: true }), { effect: 'retry' });
    return { moved: true, tenant, to, tables };
  },
);

export function placeOf(region: Region, tenant: string): string {
  return join(process.env['DATA'] ?? 'data', region, tenant);
}

async function tablesOf(region: Region, tenant: string): Promise<string[]> {
  const names = await readdir(placeOf(region, tenant)).catch(() => []);
  return names.filter((name) => name.endsWith('.jsonl')).toSorted();
}

interface Move {
  from: Region;
  to: Region;
}

/** A table that is there is whole. A process that was only slow may be at it as well, and done first. */
async function copy(table: string, tenant: string, { from, to }: Move): Promise<void> {
  await mkdir(placeOf(to, tenant), { recursive: true });
  const part = join(placeOf(to, tenant), `${table}.part`);
  const whole = join(placeOf(to, tenant), table);
  await copyFile(join(placeOf(from, tenant), table), part);
  await rename(part, whole).catch(() => access(whole));
}

async function compare(tables: readonly string[], tenant: string, { from, to }: Move): Promise<void> {
  const digest = async (region: Region, table: string) =>
    createHash('sha256')
      .update(await readFile(join(placeOf(region, tenant), table)))
      .digest('hex');
  for (const table of tables) {
    if ((await digest(from, table)) !== (await digest(to, table)))
      throw new Error(`The copy of ${table} is another one`);
  }
}
