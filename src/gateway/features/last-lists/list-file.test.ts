import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { MAX_LIST_FILE_BYTES } from '../../../kernel/base/limits.ts';
import { ListFile } from './list-file.ts';

let folder: string;
let logged: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-lists-'));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = createLog({ write: (line) => void logged.push(line) });
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const by = (principal: string) => ({ ...SPEAKING.handshake, capabilities: {}, principal });
const list = (...names: string[]) => ({ entries: names.map((name) => ({ name })), isPrivate: true });
const pathOf = () => join(folder, 'lists', 'one.json');
const file = (more: { of?: string; isPerUser?: boolean } = {}) =>
  new ListFile({ path: pathOf(), of: 'npx server', isPerUser: false, log, ...more });

/** The names that the next process reads. */
async function read(one: ListFile, principal = 'p'): Promise<string[] | undefined> {
  return (await one.read('tools', by(principal)))?.entries.map(({ name }) => String(name));
}

describe('the last lists of a server', () => {
  it('lists of tools and prompts are there for the next process, and those of resources are not', async () => {
    const one = file();
    expect(await read(one)).toBeUndefined();
    one.note('tools', by('p'), { ...list('a', 'b'), more: { _meta: { kept: true } } });
    one.note('resources', by('p'), { entries: [{ name: 'r', uri: 'file:///r' }], isPrivate: true });
    await settled();
    expect(await file().read('tools', by('other'))).toEqual({ ...list('a', 'b'), more: { _meta: { kept: true } } });
    expect(await file().read('resources', by('p'))).toBeUndefined();
    expect(statSync(pathOf()).mode & 0o777).toBe(0o600);
  });

  it('a list that has not changed is not written again', async () => {
    const one = file();
    one.note('tools', by('p'), list('a'));
    await settled();
    rmSync(pathOf());
    one.note('tools', by('p'), list('a'));
    await settled();
    expect(existsSync(pathOf())).toBe(false);
  });

  it('another command or URL under the same name has none', async () => {
    file().note('tools', by('p'), list('a'));
    await settled();
    expect(await read(file({ of: 'npx other' }))).toBeUndefined();
    expect(await read(file())).toEqual(['a']);
  });

  it('where every user has an account, a list is for its user alone, and callers without a name have none', async () => {
    const one = file({ isPerUser: true });
    one.note('tools', by('ada'), list('of-ada'));
    one.note('tools', by('anonymous:session:1'), list('of-nobody'));
    await settled();
    expect(await read(file({ isPerUser: true }), 'ada')).toEqual(['of-ada']);
    expect(await read(file({ isPerUser: true }), 'bob')).toBeUndefined();
    expect(await read(file({ isPerUser: true }), 'anonymous:session:1')).toBeUndefined();
    expect(await file({ isPerUser: true }).read('tools', { ...by(''), principal: undefined })).toBeUndefined();
    expect(readFileSync(pathOf(), 'utf8')).not.toContain('of-nobody');
  });

  it.each([
    ['is not JSON', '{'],
    ['is something else', '[1, 2]'],
    ['has entries without names', '{"version":1,"of":"npx server","lists":{"[\\"tools\\",\\"\\"]":{"entries":[1]}}}'],
    ['is of another version', '{"version":2,"of":"npx server","lists":{}}'],
    ['is too large', ' '.repeat(MAX_LIST_FILE_BYTES + 1)],
  ])('a file that %s counts as none, and is replaced by the next list', async (_, text) => {
    file().note('tools', by('p'), list('a'));
    await settled();
    writeFileSync(pathOf(), text);
    const one = file();
    expect(await read(one)).toBeUndefined();
    one.note('tools', by('p'), list('b'));
    await settled();
    expect(await read(file())).toEqual(['b']);
  });

  it.skipIf(process.platform === 'win32')('a file that others can write is not used', async () => {
    file().note('tools', by('p'), list('a'));
    await settled();
    chmodSync(pathOf(), 0o666);
    expect(await read(file())).toBeUndefined();
    expect(logged.join('')).toContain('last-lists.unreadable');
  });

  it('a list that is too large is not kept, and a folder that takes nothing costs a line of the log', async () => {
    const one = file();
    one.note('tools', by('p'), list('x'.repeat(MAX_LIST_FILE_BYTES)));
    await settled();
    expect(await read(file())).toBeUndefined();
    writeFileSync(join(folder, 'blocked'), '');
    const blocked = new ListFile({ path: join(folder, 'blocked', 'one.json'), of: '', isPerUser: false, log });
    blocked.note('tools', by('p'), list('a'));
    await settled();
    expect(logged.join('')).toContain('last-lists.not-kept');
  });
});
