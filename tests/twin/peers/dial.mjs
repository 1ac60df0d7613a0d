// The ways of a raw client to a server or gateway. Each gives `{ send(text, request), cancel(id), leave(), close() }`; what comes is handed to
// `hooks.onText`, and a request that can get no answer any more to `hooks.onLost(id, why)` (without an id: all of them).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { dialHttp } from './dial-http.mjs';
import { dialSse } from './dial-sse.mjs';
import { duplexDelivery } from './delivery.mjs';

const DIAL = { stdio: dialStdio, http: dialHttp, sse: dialSse, ws: dialWs, memory: dialMemory };

export function dial(way, hooks) {
  return DIAL[way.transport](way, hooks);
}

/** As over stdio, to a server in this process. */
let memories = 0;
function dialMemory({ server }, { onText, onLost }) {
  const conn = `memory ${++memories}`;
  let isOpen = true;
  const end = () => {
    if (isOpen) server.closed({ conn });
    isOpen = false;
  };
  const die = () => {
    end();
    onLost(undefined, 'the connection ended');
  };
  const delivery = duplexDelivery({ conn, send: (text) => setImmediate(() => isOpen && onText(text)), die });
  return {
    send: (text) => setImmediate(() => isOpen && server.take(text, delivery)),
    cancel() {},
    leave: end,
    close: end,
  };
}

function dialStdio({ command, args, env, cwd }, { onText, onLost, onNote }) {
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', onText);
  child.stderr.setEncoding('utf8').on('data', onNote);
  child.on('exit', () => onLost(undefined, 'the process ended'));
  const ended = once(child, 'exit');
  return {
    send: (text) => child.stdin.write(`${text}\n`),
    cancel() {},
    async leave() {
      child.kill('SIGKILL');
      await ended;
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

async function dialWs({ url }, { onText, onLost }) {
  const socket = new WebSocket(url, ['mcp']);
  socket.on('error', () => {}).on('close', () => onLost(undefined, 'the connection ended'));
  socket.on('message', (data) => onText(String(data)));
  await once(socket, 'open');
  return {
    send: (text) => socket.send(text),
    cancel() {},
    leave: () => socket.terminate(),
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
