// A real server process that lists what the test says, also after it was first seen.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture } from './fixture-server.ts';
import type { CommandAddress } from '../../src/mcp/connect/address.ts';
import { removeFolder } from './remove-folder.ts';

export type Entry = Record<string, unknown>;

export class ChangingServer implements Disposable {
  readonly address: CommandAddress;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-changing-'));

  constructor(lists: Record<string, unknown>) {
    this.address = fixture('lists-anything', [join(this.#folder, 'lists.json')]);
    this.says(lists);
  }

  /** `tools`, `prompts`, `resourceTemplates`, `instructions`, `version`, `era`; see lists-anything.mjs. */
  says(lists: Record<string, unknown>): void {
    writeFileSync(join(this.#folder, 'lists.json'), JSON.stringify(lists));
  }

  [Symbol.dispose](): void {
    removeFolder(this.#folder);
  }
}
