// `parley key`: makes, lists and removes API keys. Hashes are remembered, in a file or in the state that gateways share; a key is printed once, when it is made.
import {
  KEY_PREFIX,
  addSharedKey,
  hashKey,
  keyFileIn,
  readKeyFile,
  readSharedKeys,
  removeSharedKey,
  writeKeyFile,
} from '../../mcp/listen/auth/api-keys.ts';
import type { KeptKey } from '../../mcp/listen/auth/api-keys.ts';
import { drawRandomBytes } from '../../kernel/crypto/ids.ts';
import { withFileLock } from '../../kernel/files/file-lock.ts';
import type { KeyCommand } from '../args/access-commands.ts';
import { ownStateFolder } from '../../kernel/secrets/own-folders.ts';
import type { Printer } from '../../kernel/command/printer.ts';
import type { State } from '../../kernel/state/state.ts';
import { openOwnState } from '../serving/own-state.ts';
import { toTable } from '../../kernel/command/table.ts';

/** Another command changes the file in milliseconds. */
const LOCK_MS = 10_000;

/** Where keys are: a file, or what the gateways of a configuration share. */
interface KeyPlace {
  /** For messages. */
  readonly name: string;
  read(): Promise<KeptKey[]>;
  /** False if there is one of this name. */
  add(key: KeptKey): Promise<boolean>;
  remove(name: string): Promise<boolean>;
}

export async function runKey(command: KeyCommand, print: Printer): Promise<number> {
  const shared = command.file === undefined ? await openOwnState(command.config, print) : {};
  if (!shared) return 1;
  const { state, place } = shared;
  try {
    return state ? await runAt(keysInState(state, place!), command, print) : await runAtFile(command, print);
  } finally {
    await state?.close();
  }
}

async function runAtFile(command: KeyCommand, print: Printer): Promise<number> {
  const path = command.file ?? keyFileIn(ownStateFolder());
  const work = (): Promise<number> => runAt(keysInFile(path), command, print);
  if (command.action === 'ls') return work();
  const onLate = (): Error => new Error(`another command holds ${path}.lock. If none runs, delete that file.`);
  try {
    return await withFileLock({ path: `${path}.lock`, waitMs: LOCK_MS, onLate }, work);
  } catch (error) {
    print.problem(`${path} cannot be changed: ${(error as Error).message}`);
    return 1;
  }
}

async function runAt(place: KeyPlace, command: KeyCommand, print: Printer): Promise<number> {
  let kept: KeptKey[];
  try {
    kept = await place.read();
  } catch (error) {
    print.problem(`${place.name} cannot be read: ${(error as Error).message}`);
    return 1;
  }
  if (command.action === 'add') return add(command, { place, kept }, print);
  if (command.action === 'rm') return remove(command, place, print);
  list(command, kept, print);
  return 0;
}

function keysInFile(path: string): KeyPlace {
  return {
    name: path,
    read: async () => readKeyFile(path),
    async add(key) {
      const kept = readKeyFile(path);
      if (kept.some(({ name }) => name === key.name)) return false;
      writeKeyFile(path, [...kept, key]);
      return true;
    },
    async remove(name) {
      const kept = readKeyFile(path);
      const left = kept.filter((one) => one.name !== name);
      if (left.length < kept.length) writeKeyFile(path, left);
      return left.length < kept.length;
    },
  };
}

function keysInState(state: State, name: string): KeyPlace {
  return {
    name,
    read: () => readSharedKeys(state),
    add: (key) => addSharedKey(state, key),
    remove: (key) => removeSharedKey(state, key),
  };
}

interface KnownKeys {
  place: KeyPlace;
  kept: readonly KeptKey[];
}

/** Guessing one takes for ever. */
const KEY_BYTES = 32;

async function add(
  { key: name = '', user, scopes, groups, expires, json }: KeyCommand,
  { place, kept }: KnownKeys,
  print: Printer,
): Promise<number> {
  const other = kept.find((one) => one.name !== name && isConfusing(one, { name, user }));
  if (other) {
    print.problem(
      `there is a key "${other.name}" of the user "${userOf(other)}". A key cannot have the name of another user: "key:NAME" in rules would mean both. Choose another name.`,
    );
    return 1;
  }
  const key = KEY_PREFIX + drawRandomBytes(KEY_BYTES).toString('base64url');
  const made: KeptKey = {
    name,
    hash: hashKey(key),
    ...(user !== undefined && { user }),
    ...(scopes.length > 0 && { scopes }),
    ...(groups.length > 0 && { groups }),
    ...(expires !== undefined && { expires }),
    created: new Date().toISOString(),
  };
  if (!(await place.add(made))) {
    print.problem(`there is a key called "${name}" already. Remove it first: parley key rm ${name}`);
    return 1;
  }
  if (json) print.line(JSON.stringify({ name, key, ...(expires !== undefined && { expires }) }));
  else {
    print.line(key);
    print.note('This is the only time it is shown. Clients send it as the header "Authorization: Bearer KEY".');
  }
  return 0;
}

function userOf({ name, user = name }: Pick<KeptKey, 'name' | 'user'>): string {
  return user;
}

/** Rules take `key:NAME` for a key, and for the keys of a user as well. */
function isConfusing(one: KeptKey, made: Pick<KeptKey, 'name' | 'user'>): boolean {
  return userOf(one) !== userOf(made) && (userOf(one) === made.name || one.name === userOf(made));
}

async function remove({ key: name = '' }: KeyCommand, place: KeyPlace, print: Printer): Promise<number> {
  if (await place.remove(name)) return 0;
  print.problem(`there is no key called "${name}". To see them: parley key ls`);
  return 1;
}

function list({ json }: KeyCommand, kept: readonly KeptKey[], print: Printer): void {
  if (json) return print.line(JSON.stringify(kept.map(({ hash: _, ...shown }) => shown)));
  if (kept.length === 0) return print.line('There are no keys. To make one: parley key add NAME');
  const rows = kept.map(({ name, user = name, scopes, groups, expires, created }) => [
    name,
    user,
    scopes?.join(' ') ?? 'all but admin',
    groups?.join(' ') ?? '-',
    expires?.slice(0, 10) ?? 'never',
    created?.slice(0, 10) ?? '-',
  ]);
  for (const line of toTable([['KEY', 'USER', 'SCOPES', 'GROUPS', 'EXPIRES', 'MADE'], ...rows])) print.line(line);
}
