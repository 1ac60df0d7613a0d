// The keys that encrypt the logins of this user. The first one is in the keychain of the system, where `@napi-rs/keyring` is installed beside
// Parley and works; the others are in the key file of the state folder, so that logins from before can still be opened.
import { messageOf } from '../../kernel/base/errors.ts';
import { join } from 'node:path';
import { locked } from '../../mcp/connect/accounts/file-logins.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import { randomId } from '../../kernel/crypto/ids.ts';
import { keysFrom } from '../../kernel/crypto/state-keys.ts';
import type { Log } from '../../kernel/base/log.ts';
import { unlessLate } from '../../kernel/base/timing.ts';

interface LoginKeys {
  keys: readonly string[] | undefined;
  /** Where the first one is. */
  place: 'keychain' | 'file';
  /** Why a keychain that is installed is not used. */
  problem?: string | undefined;
}

/** A person may have to unlock it first, who may not be there. */
const WAIT_MS = 30_000;
const PACKAGE = '@napi-rs/keyring';

interface Keyring {
  AsyncEntry: new (service: string, account: string, options: object) => Entry;
}

interface Entry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
}

let found: Promise<LoginKeys> | undefined;

/** The same for the whole process. */
export function loginKeys(stateFolder: string, log: Log): Promise<LoginKeys> {
  return (found ??= find(stateFolder, log));
}

async function find(stateFolder: string, log: Log): Promise<LoginKeys> {
  const own = keysFrom({ stateFolder }, log);
  const keyring = await load();
  if (!keyring) return { keys: own, place: 'file' };
  try {
    const key = await unlessLate(keyIn(keyring, stateFolder), systemClock, WAIT_MS);
    if (key === undefined) throw new Error(`it did not answer within ${WAIT_MS / 1000} seconds`);
    return { keys: [key, ...(own ?? [])], place: 'keychain' };
  } catch (thrown) {
    const problem = messageOf(thrown);
    log.warn({ reason: problem }, 'login.no-keychain');
    return { keys: own, place: 'file', problem };
  }
}

function load(): Promise<Keyring | undefined> {
  return (import(PACKAGE) as Promise<Keyring>).catch(() => undefined);
}

async function keyIn({ AsyncEntry }: Keyring, stateFolder: string): Promise<string> {
  // On Linux it would else take the keyring of the kernel, which forgets at a restart.
  const entry = new AsyncEntry('mcp-parley', `logins in ${stateFolder}`, { linux: { store: 'secret-service' } });
  const create = async (): Promise<string> => {
    const other = await entry.getPassword();
    if (other) return other;
    const key = randomId() + randomId();
    await entry.setPassword(key);
    return key;
  };
  return (await entry.getPassword()) || locked(join(stateFolder, 'logins', 'keychain.lock'), WAIT_MS, create);
}
