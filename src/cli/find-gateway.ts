// The gateway that runs for this user, found by its state file and asked whether it is the one that wrote it.
import type { GatewayStatus } from './status-page.ts';
import { runningGateways } from './state-file.ts';
import type { RunningGateway } from './state-file.ts';

const ANSWER_MS = 10_000;

export interface FoundGateway extends RunningGateway {
  status: GatewayStatus;
}

/** The newest one that answers. */
export async function findGateway(folder: string): Promise<FoundGateway | undefined> {
  for (const running of runningGateways(folder)) {
    const status = await fetchStatus(running.url).catch(() => undefined);
    if (status?.pid === running.pid) return { ...running, status };
  }
  return undefined;
}

/** Rejects with words for people. */
export async function fetchStatus(url: string): Promise<GatewayStatus> {
  const page = new URL('/status', url);
  page.protocol = page.protocol.replace('ws', 'http');
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(page, { signal, redirect: 'manual' }).catch((cause: Error) => {
    throw new Error(`Nothing answers at ${page.origin}: ${reasonOf(cause)}. Is the gateway running?`, { cause });
  });
  const text = await response.text();
  if (response.status === 403) throw new Error(`${page.origin} tells its status on its own machine only.`);
  const status = response.status === 200 ? (parse(text) as GatewayStatus | undefined) : undefined;
  if (!Array.isArray(status?.servers)) {
    throw new Error(
      `What answers at ${page.origin} is no gateway of "parley serve" or "parley demo": it has no status page.`,
    );
  }
  return status;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(thrown: Error): string {
  const { code } = (thrown.cause ?? thrown) as { code?: string };
  return code ?? thrown.message;
}
