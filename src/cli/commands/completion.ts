// `parley completion`: prints a completion script for a shell. The script calls `completion names` for the tools of the running gateway,
// which starts nothing.
import type { Shell } from '../args/command.ts';
import { toBash, toFish, toPowerShell, toZsh } from './completion-scripts.ts';
import type { Printer } from '../terminal/print.ts';

const SCRIPTS: Record<Shell, () => string> = { bash: toBash, zsh: toZsh, fish: toFish, powershell: toPowerShell };
/** Somebody has pressed Tab and waits. */
const NAMES_MS = 2000;

export async function runCompletion({ shell }: { shell: Shell | 'names' }, print: Printer): Promise<number> {
  if (shell !== 'names') print.line(SCRIPTS[shell]());
  else for (const name of await toolNames().catch(() => [])) print.line(name);
  return 0;
}

async function toolNames(): Promise<string[]> {
  const { readEnvironment } = await import('../environment.ts');
  const { listRunningGateways } = await import('../running/state-file.ts');
  const { stateFolder } = await import('../../shared/secrets/own-folders.ts');
  const { sortByPreference } = await import('../running/find-gateway.ts');
  const { findConfig } = await import('../../config/read/find-config.ts');
  const environment = readEnvironment();
  const [first] = sortByPreference(
    listRunningGateways(stateFolder(environment)),
    findConfig(undefined, environment).path,
  );
  if (!first) return [];
  const { connect } = await import('../../client/connect.ts');
  const { ControlTransport } = await import('../running/control-socket.ts');
  const { createLog } = await import('../../shared/log.ts');
  const options = { name: 'parley', timeoutMs: NAMES_MS, probeMs: NAMES_MS, log: createLog({ level: 'silent' }) };
  const client = await connect(new ControlTransport(first.socket), options);
  try {
    return (await client.listTools()).map(({ name }) => name);
  } finally {
    await client.close();
  }
}
