// Anthropic's sandbox-runtime (Linux, macOS, Windows): its command `srt` runs the server, with settings and a temporary folder of its own. It lets programs reach the named hosts by way of a
// proxy, which they have to use: HTTP_PROXY and the like are set.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerCommand } from '../links/prestart.ts';
import { ownFolders } from '../../../shared/secrets/own-folders.ts';
import { findOnPath } from './find-on-path.ts';
import type { SandboxOptions, SandboxedCommand } from './sandbox.ts';

export function toRuntime(srt: readonly string[], server: ServerCommand, wanted: SandboxOptions): SandboxedCommand {
  const [program = '', ...before] = srt;
  const { command, args = [], cwd } = server;
  const folder = folderOf(JSON.stringify([command, args, cwd, wanted]));
  const settings = join(folder, 'settings.json');
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  writeFileSync(settings, JSON.stringify(toSettings(wanted, temporary)), { mode: 0o600 });
  return {
    command: program,
    args: [...before, '--settings', settings, '--', ...withoutCapabilities(), command, ...args],
    env: { NODE_USE_ENV_PROXY: '1', CLAUDE_CODE_TMPDIR: temporary },
  };
}

/** The runtime leaves root its capabilities, and with them the right to mount what is read-only as writable. On Linux it needs bubblewrap, which takes them. */
function withoutCapabilities(): string[] {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return [];
  return [findOnPath('bwrap') ?? 'bwrap', '--cap-drop', 'ALL', '--die-with-parent', '--dev-bind', '/', '/', '--'];
}

function toSettings({ write = [], hosts = [] }: SandboxOptions, temporary: string): object {
  const denyRead = ownFolders().filter((path) => existsSync(path));
  return {
    network: { allowedDomains: hosts, deniedDomains: [] },
    filesystem: { denyRead, allowRead: [], allowWrite: [...write, temporary], denyWrite: [] },
  };
}

/** One for each server, until this process ends. */
const folders = new Map<string, string>();

function folderOf(server: string): string {
  const known = folders.get(server);
  if (known !== undefined && existsSync(known)) return known;
  const made = mkdtempSync(join(tmpdir(), 'parley-sandbox-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  folders.set(server, made);
  return made;
}
