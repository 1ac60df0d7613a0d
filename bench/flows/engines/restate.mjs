// Restate: its server, and an endpoint in this process. Callers go through the server's HTTP ingress (restate-client.mjs).
// `trip` is a workflow whose body waits for durable promises; `tripObject` a virtual object that keeps the answers as its
// state and has no body that waits: the cheapest way to have the same turns, in which the author writes the state machine.
import * as restate from '@restatedev/restate-sdk';
import { createRequire } from 'node:module';
import { poster } from '../drive.mjs';
import { plainTrip } from '../plain-trip.mjs';
import { folder, freePort, serve } from '../servers.mjs';

/** Its SDK uses this without asking for Node 22. */
Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const workflow = restate.workflow({
  name: 'trip',
  handlers: {
    run: async (ctx) => {
      let at = 0;
      const ask = async (key, { message }) => {
        await ctx.promise(`q${at}`).resolve({ key, message, at });
        return ctx.promise(`a${at++}`);
      };
      const result = await plainTrip(ask, (name, run) => ctx.run(name, run));
      await ctx.promise(`q${at}`).resolve({ result });
      return result;
    },
    question: async (ctx, at) => ctx.promise(`q${at}`),
    answer: async (ctx, { at, value }) => {
      await ctx.promise(`a${at}`).resolve(value);
      return ctx.promise(`q${at + 1}`);
    },
  },
});

const KEYS = ['city', 'day', 'cls', 'meal', 'seat', 'ok'];
const object = restate.object({
  name: 'tripObject',
  handlers: {
    answer: async (ctx, { value }) => {
      const state = (await ctx.get('state')) ?? { answers: {} };
      if (value !== undefined) state.answers[KEYS[Object.keys(state.answers).length]] = value;
      const key = KEYS[Object.keys(state.answers).length];
      if (key === undefined) {
        ctx.clearAll();
        return { result: state.answers };
      }
      const quote = async () => ({ price: state.answers.city.length * 10, currency: 'EUR' });
      if (key === 'seat') state.quote = await ctx.run('quote', quote);
      ctx.set('state', state);
      return { key, message: `${key}?` };
    },
  },
});

/** `env` goes to the server as it is. */
export async function open({ env: given = {} }) {
  const [ingress, admin, node, endpoint] = [await freePort(), await freePort(), await freePort(), await freePort()];
  await restate.serve({ services: [workflow, object], port: endpoint });
  const data = folder('restate');
  const env = {
    ...process.env,
    RESTATE_BASE_DIR: data,
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'warn',
    ...given,
  };
  const { pid } = await serve(binary(), ['--no-logo'], { env, cwd: data, signal: 'SIGKILL' });
  await registered(`http://127.0.0.1:${admin}`, `http://127.0.0.1:${endpoint}`);
  return { server: pid, ingress: `http://127.0.0.1:${ingress}` };
}

async function registered(admin, uri) {
  const register = poster(admin);
  for (let tries = 0; ; tries++) {
    try {
      return await register('/deployments', { uri });
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}

function binary() {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'));
  return require.resolve(`${name}/bin/restate-server`);
}
