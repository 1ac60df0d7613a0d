// A consent that only a person can give, and an effect that must not happen twice. Should the process die within it, `check` finds out
// whether it happened.
import { flow } from 'mcp-parley/flow';

/** Stands for a cluster that keeps the key of each release. */
export const releases = new Map();

export const deploy = flow(
  { name: 'deploy', description: 'Deploy a service', version: '1', long: true },
  async (ask) => {
    const service = await ask.text('service', { message: 'Which service?' });
    const version = await ask.text('version', { message: 'Which version?', pattern: /^\d+\.\d+\.\d+$/, ahead: true });
    const where = await ask.choice('where', ['staging', 'production'], { message: 'Where to?', ahead: true });
    const plan = await ask.step('plan', async () => `${service} ${version} replaces what runs in ${where}`);
    const agreed = await ask.confirm('agreed', { message: `${plan}. Deploy it?`, by: 'human' });
    if (!agreed) return { deployed: false, plan };
    const release = await ask.step(
      'deploy',
      async ({ idempotencyKey }) => releases.set(idempotencyKey, { service, version, where }).get(idempotencyKey),
      { effect: 'once', check: async ({ idempotencyKey }) => releases.get(idempotencyKey) },
    );
    return { deployed: true, ...release };
  },
);
