// What `parley doctor` sees of this machine: Node, the PATH of desktop applications, the clock, the port, and other gateways.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ParleyConfig } from '../../../config/config.ts';
import { enabledServers } from '../../../config/config.ts';
import { findOnPath } from '../../../mcp/connect/links/find-on-path.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../../../config/settings.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { NodeReport } from '../../../kernel/nodes/nodes.ts';
import { version } from '../../../kernel/version.ts';
import { displayPath } from '../../environment.ts';
import { programName } from '../../program.ts';
import { askStatus } from '../../running/control-socket.ts';
import { listRunningGateways } from '../../running/state-file.ts';
import { describeHolder } from '../../running/port-holder.ts';
import { ok } from './report.ts';
import type { CheckOutcome } from './report.ts';

const OLDEST = [20, 19] as const;

export function checkNode(found = process.versions.node): CheckOutcome {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const isEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const what = `Node ${found}, Parley ${version()}`;
  if (isEnough) return ok('node', what, { node: found, parley: version() });
  const fix = `Install Node ${OLDEST.join('.')} or later, or the newest one.`;
  return { check: 'node', level: 'problem', what: `${what}: this Node is too old`, fix, measured: { node: found } };
}

/** What the system gives programs that no shell has started. */
const DEFAULT_PATHS: Readonly<Record<string, string>> = {
  darwin: '/usr/bin:/bin:/usr/sbin:/sbin',
  linux: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
};
const ASK_MS = 1000;

/** Undefined if it is the one that shells have, as on Windows. */
export async function desktopPath({ platform = process.platform }: Environment): Promise<string | undefined> {
  const otherwise = DEFAULT_PATHS[platform];
  if (otherwise === undefined || platform !== process.platform) return otherwise;
  const [command, args]: [string, string[]] =
    platform === 'darwin' ? ['launchctl', ['getenv', 'PATH']] : ['systemctl', ['--user', 'show-environment']];
  const said = await answerOf(command, args);
  const told = platform === 'darwin' ? said.trim() : (/^PATH=(.*)$/m.exec(said)?.[1] ?? '');
  return told === '' ? otherwise : told;
}

/** Empty if there is no such program, or if it says nothing in time. */
function answerOf(command: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: ASK_MS, encoding: 'utf8' }, (failed, stdout) => resolve(failed ? '' : stdout));
  });
}

/** Commands that a shell finds and a desktop application does not. */
export function checkPath(
  config: ParleyConfig | undefined,
  desktop: string | undefined,
  env = process.env,
): CheckOutcome {
  const check = 'path';
  if (desktop === undefined) return ok(check, 'desktop applications have the PATH of your shell');
  const names = (config ? enabledServers(config) : []).flatMap(([, one]) => ('command' in one ? [one.command] : []));
  const lost = [...new Set(names)].filter(
    (name) => !/[\\/]/.test(name) && findOnPath(name, env) && !findOnPath(name, { ...env, PATH: desktop }),
  );
  const measured = { desktop, lost };
  if (lost.length === 0) return ok(check, 'desktop applications find every command of your servers', measured);
  const paths = lost.map((name) => `${name} is ${findOnPath(name, env)}`).join(', ');
  return {
    check,
    level: 'warning',
    what: `desktop applications such as Claude Desktop do not find ${lost.join(', ')}: their PATH is ${desktop}`,
    fix: `Write the full path as "command": ${paths}. Or start one gateway yourself ("${programName()} serve"), and give clients its URL.`,
    measured,
  };
}

const SKEW_MS = 60_000;

/** `seen`: the time that servers told, if any was asked. */
export function checkClock(seen: number | undefined, now = Date.now()): CheckOutcome {
  const built = statSync(fileURLToPath(import.meta.url)).mtimeMs;
  const off = seen === undefined ? Math.min(0, now - built) : now - seen;
  const measured = { offMs: Math.round(off), comparedWith: seen === undefined ? 'files of Parley' : 'a server' };
  if (Math.abs(off) < SKEW_MS) return ok('clock', 'the clock is right, as far as can be seen', measured);
  const seconds = Math.round(Math.abs(off) / 1000);
  return {
    check: 'clock',
    level: 'warning',
    what: `the clock of this machine is ${seconds} s ${off > 0 ? 'fast' : 'slow'}: logins and approvals go by it`,
    fix: 'Set it, best by the time service of the system.',
    measured,
  };
}

/** Whether `serve` could open its port, and who has it. */
export async function checkPort(config: ParleyConfig | undefined): Promise<CheckOutcome> {
  const check = 'port';
  const { port = DEFAULT_PORT, host = DEFAULT_HOST } = config?.listen ?? {};
  const failed = await tryPort(port, host);
  if (failed === undefined || port === 0)
    return ok(check, `${port} on ${host} is free for "${programName()} serve"`, { port });
  if (failed !== 'EADDRINUSE')
    return {
      check,
      level: 'problem',
      what: `${port} on ${host} cannot be opened: ${failed}`,
      fix: 'Choose another one.',
      measured: { port, code: failed },
    };
  const holder = await describeHolder(port);
  const measured = { port, by: holder.who ?? null, pid: holder.pid ?? null };
  const who = holder.who ?? 'another program';
  if (holder.isGateway) return ok(check, `${port} on ${host} has ${who}`, measured);
  const fix = `End it, or choose another port: ${programName()} serve --port 0`;
  return { check, level: 'warning', what: `${port} on ${host} is taken by ${who}`, fix, measured };
}

/** The code of the system error; undefined if the port is free. */
function tryPort(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

const ANSWER_MS = 2000;

/** The gateways of this user that run. */
export async function checkGateways(folder = ownStateFolder()): Promise<CheckOutcome[]> {
  const running = listRunningGateways(folder);
  if (running.length === 0) return [ok('gateways', 'none of your gateways runs now')];
  const checked = await Promise.all(
    running.map(async ({ pid, url, serves, socket }): Promise<CheckOutcome[]> => {
      const check = 'gateways';
      const about = `${displayPath(serves)} ${url === undefined ? 'on stdio' : `at ${url}`}, process ${pid}`;
      const measured = { pid, url: url ?? null, serves };
      const answer = await askStatus(socket, ANSWER_MS).catch(() => undefined);
      if (answer) return [ok(check, `one serves ${about}`, measured), ...checkNodes(answer.nodes)];
      const fix = `It may hang: end it with "kill ${pid}".`;
      return [{ check, level: 'warning', what: `one does not answer: ${about}`, fix, measured }];
    }),
  );
  return checked.flat();
}

/** Whether gateways that serve as one are the same. */
export function checkNodes(nodes: readonly NodeReport[] = []): CheckOutcome[] {
  const [self] = nodes;
  if (!self) return [];
  const check = 'cluster';
  const measured = { nodes };
  const others = nodes.filter(
    ({ version: other, differs }) => differs.length > 0 || (other ?? self.version) !== self.version,
  );
  if (others.length === 0) return [ok(check, `${nodes.length} gateways serve as one`, measured)];
  const told = others.map(({ url, version: other, differs }) =>
    [
      url,
      ...(other === self.version ? [] : [`is version ${other}`]),
      ...(differs.length > 0 ? [`in ${differs.join(', ')}`] : []),
    ].join(' '),
  );
  const fix = `Give all of them the same file and version. To see all: ${programName()} status`;
  const what = `gateways that serve as one differ from this one (${self.version}): ${told.join('; ')}`;
  return [{ check, level: 'warning', what, fix, measured }];
}
