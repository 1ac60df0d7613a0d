// The paths of clients' files on this machine. Everything comes from the environment that is given, so that the paths of each platform can be
// computed on any.
import { readdirSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Environment } from './find-config.ts';
import { clientTable } from '../client-table.ts';
import type { ClientFile, ClientSpec } from '../client-table.ts';
import { userFolder } from '../../kernel/secrets/own-folders.ts';
import { isInside, realPath } from '../../kernel/files/paths.ts';

export interface ClientPlace {
  client: ClientSpec;
  path: string;
  isVerified: boolean;
  /** It is there. Otherwise only its folder is: the client is installed, and has no servers yet. */
  exists: boolean;
}

/** All paths that the table names, whether something is there or not. */
export function userPaths(client: ClientSpec, environment: Environment, disk: Disk = REAL_DISK): string[] {
  return filesOf(client, environment).flatMap(({ path }) => expand(path, environment, disk));
}

/** The client whose file of the user this is; undefined for any other file, and for one that is never written. */
export function clientOf(path: string, environment: Environment): ClientSpec | undefined {
  return clientTable().find((client) => !client.readOnly && userPaths(client, environment).includes(path));
}

/** Files of a project, in the folder in which the user stands. */
export function projectPaths({ project = [] }: ClientSpec, environment: Environment): string[] {
  return project.map(({ path }) => pathsOf(environment).join(environment.cwd, path));
}

/** Variables that name folders of all programs. Those of one client may lead to any file. */
const FOLDERS = ['XDG_CONFIG_HOME', 'FLATPAK_XDG_CONFIG_HOME', 'APPDATA', 'LOCALAPPDATA'];

/**
 * In the user's config folder, or a client's file at its usual place in the home. Clients keep other people's folders next to their files.
 * Paths are compared as written: a link in another folder may lead anywhere tomorrow.
 */
export function isUsersFile(path: string, environment: Environment): boolean {
  const homes = new Set([environment.home, realPath(environment.home)]);
  const env = Object.fromEntries(FOLDERS.map((name) => [name, environment.env[name]]));
  return [...homes].some((home) => {
    if (isInside(path, userFolder({ ...environment, home }))) return true;
    return clientTable().some((client) => userPaths(client, { ...environment, home, env }).includes(path));
  });
}

/**
 * The folder to which a file belongs: its own, or that of the project if an editor keeps it in a folder of its own there. Undefined for the user's
 * own files, which belong to no project.
 */
export function folderOfProject(path: string, environment: Environment): string | undefined {
  if (isUsersFile(path, environment)) return undefined;
  const paths = pathsOf(environment);
  const inProject = clientTable().flatMap(({ project = [] }) => project.map((file) => paths.normalize(file.path)));
  const own = inProject.find((file) => file.includes(paths.sep) && path.endsWith(paths.sep + file));
  return own === undefined ? paths.dirname(path) : path.slice(0, -own.length - 1) || paths.sep;
}

/** The file that the client reads: the first that is there, else the first whose folder is. Undefined if the client is not installed. */
export function placeOf(client: ClientSpec, environment: Environment, disk: Disk = REAL_DISK): ClientPlace | undefined {
  const places = filesOf(client, environment).flatMap((file) =>
    expand(file.path, environment, disk).map((path) => ({ client, path, isVerified: file.unverified !== true })),
  );
  const found = places.find(({ path }) => disk.isFile(path));
  if (found) return { ...found, exists: true };
  const paths = pathsOf(environment);
  const isInstalled = (folder: string): boolean => folder !== environment.home && disk.isFolder(folder);
  const empty = places.find(({ path }) => isInstalled(paths.dirname(path)));
  return empty && { ...empty, exists: false };
}

/** What is there. */
export interface Disk {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
  /** Empty if there is no such folder. */
  namesIn(folder: string): string[];
}

const REAL_DISK: Disk = {
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  isFolder: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
  namesIn(folder) {
    try {
      return readdirSync(folder);
    } catch {
      return []; // there is no such folder
    }
  },
};

/** The places of all clients that are installed here. */
export function installedClients(environment: Environment): ClientPlace[] {
  return clientTable().flatMap((client) => placeOf(client, environment) ?? []);
}

function filesOf({ files }: ClientSpec, { platform = process.platform }: Environment): ClientFile[] {
  return files[platform === 'darwin' || platform === 'win32' ? platform : 'linux'];
}

function pathsOf({ platform = process.platform }: Environment): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** No path if it stands for a variable that is not set, or for a folder that is not there. */
function expand(template: string, environment: Environment, disk: Disk): string[] {
  const text = fillIn(template, environment);
  if (text === '') return [];
  const { home } = environment;
  const paths = pathsOf(environment);
  const path = paths.normalize(text.startsWith('~') ? home + text.slice(1) : text);
  if (!paths.isAbsolute(path)) return [];
  return path.includes('*') ? matching(path, paths, disk) : [path];
}

/** The innermost first: a default may name a variable. */
function fillIn(template: string, { env }: Environment): string {
  let text = template;
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replace(
      /\$\{(\w+)(?::-([^${}]*))?\}/,
      (_, name: string, otherwise = '') => env[name] || String(otherwise),
    );
  }
  return text;
}

/** `*` stands for names in one folder. */
function matching(path: string, paths: typeof posix, disk: Disk): string[] {
  const parts = path.split(paths.sep);
  const at = parts.findIndex((part) => part.includes('*'));
  const folder = parts.slice(0, at).join(paths.sep);
  const [before = '', after = ''] = parts[at]!.split('*');
  const names = disk.namesIn(folder).filter((name) => name.startsWith(before) && name.endsWith(after));
  return names.toSorted().map((name) => paths.join(folder, name, ...parts.slice(at + 1)));
}
