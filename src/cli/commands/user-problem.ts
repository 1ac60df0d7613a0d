// Whether `--user` of `parley pair` can be somebody. Where callers log in at an issuer, a user is that issuer with the `sub` of its tokens; a name
// alone is the user of an API key.
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../config/read/load-config.ts';
import type { ConfigInput } from '../../config/check/schema.ts';
import { FRONT_PATH } from '../../gateway/accept/auth/front/front-options.ts';
import { keyFileIn, readKeyFile } from '../../gateway/accept/auth/key-file.ts';
import { ownStateFolder } from '../../shared/secrets/own-folders.ts';
import { readEnvironment } from '../environment.ts';

/** Undefined if it can be, or if nothing is known. `path`: the configuration of the gateway. */
export function userProblem(user: string, path: string): string | undefined {
  const { read } = loadConfig(path, readEnvironment());
  const issuers = read ? issuersOf(read.input) : [];
  const isKnown = issuers.length === 0 || issuers.some((issuer) => user.startsWith(`${issuer}#`));
  if (isKnown || hasKey(read!.input, { user: user.replace(/^key:/, ''), folder: dirname(path) })) return undefined;
  const sub = user.slice(user.lastIndexOf('#') + 1);
  return [
    `nobody here can be "${user}". Callers log in at ${issuers.join(' and ')}; such a user is the issuer and the "sub" of its tokens:`,
    `parley pair --user '${issuers[0]}#${sub}'. A name alone is the user of an API key, and no key has this one.`,
  ].join(' ');
}

function issuersOf({ auth = {}, publicUrl }: ConfigInput): string[] {
  // What is not text has been reported by `parley check`, and is undefined.
  const named = (auth.issuers ?? []).flatMap((one) => (typeof one === 'string' ? one : (one?.issuer ?? [])));
  return auth.front && publicUrl !== undefined ? [...named, publicUrl.replace(/\/+$/, '') + FRONT_PATH] : named;
}

function hasKey({ auth = {} }: ConfigInput, { user, folder }: { user: string; folder: string }): boolean {
  const file = auth.keyFile === undefined ? keyFileIn(ownStateFolder()) : resolve(folder, auth.keyFile);
  return [...(auth.keys ?? []), ...keysIn(file)].some((key) => (key?.user ?? key?.name) === user);
}

/** A file that cannot be read is not a reason against a user; `parley key` reports it. */
function keysIn(file: string): ReturnType<typeof readKeyFile> {
  try {
    return readKeyFile(file);
  } catch {
    return [];
  }
}
