// What `parley doctor` sees of a configuration without starting anything: its mistakes, whether it is trusted, and packages without a version.
import { basename } from 'node:path';
import { enabledServers } from '../../../config/config.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import { programName } from '../../program.ts';
import { howTo, isUsable, judgeTrust, readTrusted, whyNot, whyUnbound } from '../../trust/judge-trust.ts';
import { ok } from './report.ts';
import type { CheckOutcome } from './report.ts';

export function checkConfig(loaded: LoadedConfig): CheckOutcome[] {
  const { path, problems, config } = loaded;
  if (path === undefined) {
    const fix = `Write one: ${programName()} init. Or take over the servers of your clients: ${programName()} connect`;
    return [{ check: 'config', level: 'warning', what: 'there is no configuration here, and none of your own', fix }];
  }
  const at = displayPath(path);
  const found = problems.map(({ level, message, hint, line }): CheckOutcome => ({
    check: 'config',
    level: level === 'error' ? 'problem' : level === 'warning' ? 'warning' : 'ok',
    what: `${at}${line === undefined ? '' : `:${line}`}: ${message}`,
    fix: hint,
    measured: { path, line: line ?? null },
  }));
  const servers = config ? enabledServers(config).length : 0;
  const about = config
    ? [ok('config', `${at} has ${servers} server${servers === 1 ? '' : 's'}`, { path, servers })]
    : [];
  return [...about, ...found, ...(config ? [checkTrust(loaded)] : [])];
}

function checkTrust(loaded: LoadedConfig): CheckOutcome {
  const verdict = judgeTrust(loaded, readEnvironment());
  const path = loaded.path!;
  const measured = { path, verdict };
  if (isUsable(verdict))
    return ok(
      'trust',
      verdict === 'own' ? `${displayPath(path)} needs no trust` : `${displayPath(path)} is trusted`,
      measured,
    );
  const what = verdict === 'unbound' ? whyUnbound(loaded) : whyNot(path, verdict);
  return { check: 'trust', level: 'problem', what: what.replace(/\.$/, ''), fix: howTo(path), measured };
}

/** What was trusted, and is not there any more. */
export function checkTrusted(exists: (path: string) => boolean): CheckOutcome[] {
  const gone = Object.keys(readTrusted()).filter((path) => !exists(path));
  return gone.map((path): CheckOutcome => ({
    check: 'trust',
    level: 'warning',
    what: `${displayPath(path)} is trusted, and is not there any more`,
    fix: `Forget it: ${programName()} trust rm ${displayPath(path)}`,
    measured: { path },
  }));
}

const RUNNERS = new Set(['npx', 'bunx', 'pnpx', 'uvx']);
const TAKES_VALUE = new Set(['--registry', '--cache', '--prefix', '-c', '--call', '--python', '--index-url', '--with']);

/** Packages that are fetched in whichever version is the newest. */
export function checkPackages(config: ParleyConfig): CheckOutcome {
  const loose = enabledServers(config).flatMap(([name, server]) => {
    if (!('command' in server) || !RUNNERS.has(basename(server.command).replace(/\.(?:cmd|exe)$/i, ''))) return [];
    const spec = packageOf(server.args);
    return spec === undefined || isPinned(spec) ? [] : [{ name, spec }];
  });
  const check = 'packages';
  if (loose.length === 0) return ok(check, 'every package that is fetched has its version');
  const list = loose.map(({ name, spec }) => `${name} (${spec})`).join(', ');
  return {
    check,
    level: 'warning',
    what: `the newest version is fetched, whatever it is, of ${list}`,
    fix: 'Write the version behind the name, such as some-server@1.2.3, so that nothing changes unseen.',
    measured: { packages: loose },
  };
}

function packageOf(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    const [, given] = /^(?:--package|--from)=(.+)$/.exec(word) ?? [];
    if (given !== undefined) return given;
    if (word === '-p' || word === '--package' || word === '--from') return args[at + 1];
    if (TAKES_VALUE.has(word)) at += 1;
    else if (!word.startsWith('-')) return word;
  }
  return undefined;
}

/** A tag such as `latest` may mean another version tomorrow. Folders and addresses are not looked at. */
function isPinned(spec: string): boolean {
  if (/^[./~]|:\/\/|^[a-z]+:|^[\w-]+\/[\w.-]+$/i.test(spec)) return true;
  const version = /^@?[^@=]+(?:@|==)(.+)$/.exec(spec)?.[1];
  return version !== undefined && /^v?\d+\.\d+\.\d+/.test(version);
}
