// A gateway with servers as people have them, and a browser at its console.
import { existsSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createGateway, createLog, createServer } from '../../../src/_entries/index.ts';
import type { Gateway } from '../../../src/_entries/index.ts';
import { approve } from '../../../src/_entries/middleware.ts';
import { connected } from '../../helpers/fixture-server.ts';
import type { BrowserOfTests, Tab } from '../chromium.ts';
import { toSmallPng } from '../small-png.ts';

export const log = createLog({ level: 'silent' });
const FOLDER = new URL('../../../docs/images/', import.meta.url);

export interface ConsoleGateway {
  readonly gateway: Gateway;
  readonly url: string;
  /** Where browsers go. */
  readonly root: string;
  readonly client: Awaited<ReturnType<typeof connected>>;
  /** What ran. */
  readonly ran: string[];
}

type Closing = BrowserOfTests['closing'];

/** `headers`: of the client, where it has to log in. */
export async function startGateway(
  closing: Closing,
  options: object = {},
  headers?: Record<string, string>,
): Promise<ConsoleGateway> {
  const ran: string[] = [];
  const files = createServer({ name: 'secure-filesystem-server', version: '0.2.0', log });
  files.tool(
    'read_file',
    { description: 'Reads a file.', annotations: { readOnlyHint: true } },
    ({ path }) => `The text of ${String(path)}`,
  );
  files.tool('write_file', { description: 'Writes a file.', annotations: { destructiveHint: true } }, ({ path }) => {
    ran.push(String(path));
    return `Wrote ${String(path)}`;
  });
  const git = createServer({ name: 'git', version: '3.1.4', log });
  git.tool(
    'delete_branch',
    { description: 'Deletes a branch.', annotations: { destructiveHint: true } },
    ({ branch }) => {
      ran.push(String(branch));
      return 'Deleted.';
    },
  );
  const broken = {
    command: process.execPath,
    args: ['-e', 'console.error("Error: Could not locate the bindings file"); process.exit(1)'],
  };
  const gateway = createGateway({
    servers: { files, git, search: { server: broken, start: 'eager' } },
    steps: [approve()],
    log,
    console: true,
    ...options,
  });
  closing.push(() => gateway.close());
  const { url } = await gateway.listen({ port: 0 });
  const client = await connected({ url, ...(headers && { headers }) });
  closing.push(() => client.close());
  return { gateway, url, root: url.replace(/mcp$/, ''), client, ran };
}

/** A tab that is let in as the operator's. */
export async function enter({ gateway, root }: Pick<ConsoleGateway, 'gateway' | 'root'>, tab: Tab): Promise<void> {
  const { code } = await gateway.pair();
  await tab.page.goto(`${root}#code=${code}`);
  await tab.page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
}

/** `UPDATE_DOCS=1` keeps it; otherwise only checks that it can be taken, because fonts differ between machines. */
export async function picture({ page }: Tab, name: string): Promise<void> {
  const path = new URL(`${name}.png`, FOLDER).pathname;
  const taken = await page.screenshot({ animations: 'disabled' });
  if (process.env['UPDATE_DOCS']) writeFileSync(path, toSmallPng(taken));
  expect(existsSync(path)).toBe(true);
}
