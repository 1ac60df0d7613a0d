// `parley doctor`: looks at everything that has to be right for a client to reach its servers through Parley, all at once, and says what to do. It changes
// nothing, and starts only servers that may be started.
import { existsSync } from 'node:fs';
import { loadConfig } from '../../../config/read/load-config.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';
import { enabledServers } from '../../../config/config.ts';
import type { ParleyConfig } from '../../../config/config.ts';
import { stopUnusedPrestarted } from '../../../mcp/connect/links/server-process.ts';
import type { DoctorCommand } from '../../args/connect-commands.ts';
import { readEnvironment } from '../../environment.ts';
import { untilSignal } from '../../signals.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { createStartCheck, isUsable, judgeTrust } from '../../trust/judge-trust.ts';
import { checkClients } from './check-clients.ts';
import { checkConfig, checkPackages, checkTrusted } from './check-config.ts';
import { checkLogins } from './check-logins.ts';
import { checkClock, checkGateways, checkNode, checkPath, checkPort, desktopPath } from './check-machine.ts';
import { checkServers } from './check-servers.ts';
import { showReport, statusOf, toReportJson } from './report.ts';
import type { CheckOutcome } from './report.ts';

const TIMEOUT_MS = 15_000;
const CLOCK_MS = 2000;

export async function runDoctor(command: DoctorCommand, print: Printer): Promise<number> {
  const findings = await Promise.race([examine(command), untilSignal().then(() => undefined)]);
  await stopUnusedPrestarted();
  if (!findings) return 1;
  if (command.json) print.line(toReportJson(findings));
  else showReport(findings, print);
  return statusOf(findings);
}

async function examine({ config: named, timeoutMs = TIMEOUT_MS }: DoctorCommand): Promise<CheckOutcome[]> {
  const environment = readEnvironment();
  const loaded = loadConfig(named, { ...environment, runsCommands: true });
  const { config } = loaded;
  const [machine, gateways, logins, servers] = await Promise.all([
    checkMachine(config),
    checkGateways(),
    checkLogins(),
    checkServersOf(loaded, timeoutMs),
  ]);
  const clients = checkClients(environment);
  const about = [...checkConfig(loaded), ...checkTrusted(existsSync), ...(config ? [checkPackages(config)] : [])];
  return [...machine, ...gateways, ...clients, ...about, ...logins, ...servers];
}

async function checkMachine(config: ParleyConfig | undefined): Promise<CheckOutcome[]> {
  const [port, path, seen] = await Promise.all([checkPort(config), desktopPath(readEnvironment()), timeOf(config)]);
  return [checkNode(), checkPath(config, path), checkClock(seen), port];
}

/** What is not trusted is not started. */
async function checkServersOf(loaded: LoadedConfig, timeoutMs: number): Promise<CheckOutcome[]> {
  const { config, path } = loaded;
  if (!config || path === undefined || !isUsable(judgeTrust(loaded, readEnvironment()))) return [];
  return checkServers({ config, timeoutMs, checkStart: createStartCheck(path) });
}

/** As the first server with a URL tells it; undefined without such a server, or if it does not answer in time. */
async function timeOf(config: ParleyConfig | undefined): Promise<number | undefined> {
  const urls = (config ? enabledServers(config) : []).flatMap(([, one]) =>
    'url' in one && /^https:/i.test(one.url) ? [one.url] : [],
  );
  const [url] = urls;
  if (url === undefined) return undefined;
  try {
    const { origin } = new URL(url);
    const { headers } = await fetch(origin, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(CLOCK_MS),
    });
    const told = Date.parse(headers.get('date') ?? '');
    return Number.isNaN(told) ? undefined : told;
  } catch {
    return undefined; // the check of the server says why it cannot be reached
  }
}
