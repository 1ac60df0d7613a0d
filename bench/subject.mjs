// One server under measurement: its process, the client that loads it, and its CPU time asked over IPC.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PROGRAMS } from './cells.mjs';
import { drive } from './load/drive.mjs';
import { httpClient } from './load/http.mjs';
import { stdioClient } from './load/stdio.mjs';
import { quantile } from './report/quantile.mjs';

const STARTS_WITHIN_MS = 10_000;
const CLIENTS = { http: httpClient, stdio: stdioClient };

/** Starts a server and opens a client to it; throws with the reason if either fails. */
export async function startSubject(name, { transport, era }) {
  const [file, ...args] = PROGRAMS[name][transport];
  const path = fileURLToPath(new URL(`servers/${file}`, import.meta.url));
  const child = fork(path, args, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
  // A server on HTTP may write a greeting; unread it would fill the pipe.
  if (transport === 'http') child.stdout.resume();
  // Writing to a server that has died is reported by its exit.
  child.stdin.on('error', () => undefined);
  try {
    const { url } = await within(
      STARTS_WITHIN_MS,
      'start',
      told(child, (message) => message.ready),
    );
    const client = await within(STARTS_WITHIN_MS, 'open', CLIENTS[transport]({ child, url, era }));
    return subject(name, child, client);
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function subject(name, child, client) {
  function ask(question) {
    const answer = told(child, (message) => message.ask === question);
    child.send({ ask: question });
    return answer.then((message) => message.answer);
  }

  return {
    name,
    ask,
    check: (call) => within(STARTS_WITHIN_MS, 'answer', client.check(call)),
    load(call, plan) {
      client.renew();
      return drive(client, call, plan);
    },
    /** One batch of calls: CPU per call of the server, latencies, throughput. */
    async measure(call, plan) {
      const before = await ask('usage');
      const { latencies, ms } = await drive(client, call, plan);
      const after = await ask('usage');
      latencies.sort((a, b) => a - b);
      return {
        calls: latencies.length,
        cpu: (after.cpu - before.cpu) / latencies.length,
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        rate: (latencies.length / ms) * 1000,
      };
    },
    async stop() {
      client.renew();
      await stop(child);
    },
  };
}

/** The first message from the child that fits; rejects if the child ends before. */
function told(child, fits) {
  return new Promise((resolve, reject) => {
    const onExit = (code, signal) => settle(reject, new Error(`exited with ${signal ?? code}`));
    const onMessage = (message) => {
      if (message.failed) settle(reject, new Error(message.failed));
      else if (fits(message)) settle(resolve, message);
    };
    function settle(how, value) {
      child.off('exit', onExit).off('message', onMessage);
      how(value);
    }
    child.on('exit', onExit).on('message', onMessage);
  });
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`did not ${what} within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
