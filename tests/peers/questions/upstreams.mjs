// The servers behind the gateway, each with the processes that it takes: itself, and a gateway before it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = (name) => fileURLToPath(new URL(name, import.meta.url));
/** How long a question waits behind the hurried door. */
export const HURRY_MS = 1500;

export const UPSTREAMS = [
  { name: 'handshake, stdio', era: 'handshake', kind: 'v1', transport: 'stdio', revision: '2025-11-25' },
  { name: 'handshake, HTTP', era: 'handshake', kind: 'v1', transport: 'http', revision: '2025-11-25' },
  { name: 'stateless, HTTP', era: 'stateless', kind: 'v2', transport: 'http', revision: '2026-07-28' },
  { name: 'stateless, stdio', era: 'stateless', kind: 'v2', transport: 'stdio', revision: '2026-07-28' },
  { name: 'MCP Flow, stdio', era: 'flow', kind: 'flow', transport: 'stdio', revision: '2025-11-25' },
];

/** `{ patient, hurried, stop }`: the two doors of the gateway. */
export async function startUpstream({ kind, transport, revision }, events) {
  const args = [program('server.mjs'), kind, transport, events];
  const upstream = transport === 'http' ? await start(args) : undefined;
  const server = upstream?.line ?? { command: process.execPath, args };
  const gateway = await start([program('gateway.mjs'), JSON.stringify({ server, revision }), String(HURRY_MS)]);
  const [patient, hurried] = JSON.parse(gateway.line);
  return {
    patient,
    hurried,
    async stop() {
      await gateway.stop('SIGTERM');
      await upstream?.stop('SIGKILL');
    },
  };
}

/** Its first line says that it is there. */
async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error(`${args[0]} ended before it was there`))),
  ]);
  const stop = async (signal) => {
    const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.kill(signal);
    await exited;
    clearTimeout(force);
  };
  return { line, stop };
}
