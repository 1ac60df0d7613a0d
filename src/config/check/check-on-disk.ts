// Finds mistakes by looking at the machine: missing commands and folders, and a command with its arguments in one text. All are warnings,
// as one broken server must not stop the others.
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { neededPaths } from '../../mcp/connect/confinement-keys.ts';
import { commandExists } from '../../mcp/connect/links/find-on-path.ts';
import { toPathId } from './config-problems.ts';
import type { ConfigPath, ConfigProblems } from './config-problems.ts';
import type { ConfigInput } from './schema.ts';
import type { ServerInput } from './server-shape.ts';
import { listServers } from './named-server.ts';

interface DiskCheck {
  /** Path of the configuration. */
  path: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  problems: ConfigProblems;
  /** Paths of text that came from variables; it may be a secret and is not repeated. */
  filled: ReadonlySet<string>;
  /** Paths of text with unset variables, which have been reported. */
  missing: ReadonlySet<string>;
}

export function checkOnDisk(input: ConfigInput, context: DiskCheck): void {
  for (const { server, path } of listServers(input)) {
    if (server.disabled || server.command === undefined) continue;
    checkArgs(server, path, context);
    checkPaths(server, path, context);
    if (isMissing([...path, 'cwd'], context)) continue; // nothing relative can be found, either
    if (!isMissing([...path, 'command'], context)) checkCommand(server, path, context);
    const { cwd } = server;
    const folder = cwd === undefined ? undefined : resolve(dirname(context.path), cwd);
    if (folder !== undefined && !isFolder(folder)) {
      context.problems.warn(
        [...path, 'cwd'],
        'this folder does not exist',
        'Create it, or correct the path, which starts at the folder of this file.',
      );
    }
  }
}

function checkPaths(server: ServerInput, path: ConfigPath, context: DiskCheck): void {
  for (const { at: below, written } of neededPaths(server)) {
    const at = [...path, ...below];
    if (isMissing(at, context) || existsSync(resolve(dirname(context.path), written))) continue;
    const hint =
      'Create it, or correct the path, which starts at the folder of this file. Write ${userHome} in place of "~".';
    context.problems.warn(at, 'this does not exist, so the server will not start', hint);
  }
}

function checkCommand({ command = '', args = [], cwd }: ServerInput, path: ConfigPath, context: DiskCheck): void {
  const { problems, env } = context;
  const at = [...path, 'command'];
  const base = cwd === undefined ? context.cwd : resolve(dirname(context.path), cwd);
  if (command.startsWith('~')) {
    const hint = 'No shell reads it: write ${userHome} in place of "~".';
    return problems.warn(at, '"~" does not stand for your home here', hint);
  }
  if (/\s/.test(command) && !existsSync(resolve(base, command))) {
    const [name = '', ...rest] = command.trim().split(/\s+/);
    const all = JSON.stringify([...rest, ...args]);
    const isOurs = !context.filled.has(toPathId(at));
    const hint = isOurs ? `Write "command": ${JSON.stringify(name)}, "args": ${all}.` : 'Move them to "args".';
    return problems.warn(at, 'a command and its arguments are one text here', hint);
  }
  if (commandExists(command, base, env)) return;
  const isPath = /[\\/]/.test(command);
  const hint = isPath ? 'Correct the path.' : 'Check its spelling, install it, or give its full path.';
  problems.warn(at, isPath ? 'this file does not exist' : 'this command is not on PATH', hint);
}

/** One argument `-y pkg` reaches the program with its space. */
function checkArgs({ args = [] }: ServerInput, path: ConfigPath, { problems }: DiskCheck): void {
  args.forEach((arg, index) => {
    if (!/^--?\w[\w-]*\s+\S/.test(arg)) return;
    problems.warn([...path, 'args', index], 'this is one argument with a space in it', 'Make two of it.');
  });
}

function isMissing(path: ConfigPath, { missing }: DiskCheck): boolean {
  return missing.has(toPathId(path));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
