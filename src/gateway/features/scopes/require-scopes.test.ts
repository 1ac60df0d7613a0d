import { expect, it } from 'vitest';
import type { StepExchange } from '../../../kernel/step.ts';
import { respond } from '../../chain/outcome.ts';
import { requireScopes } from './require-scopes.ts';

const step = requireScopes({ wipe: ['write'] });

function run(method: string, params: object, scopes: string[]): unknown {
  const connection = { transport: 'http', identity: { principal: 'ann', key: 'ann', scopes } };
  const exchange = { method, params, client: { connection } } as unknown as StepExchange;
  return step.handle!(exchange, async () => respond({}), undefined as never, undefined);
}

it.each([
  ['tools/call', { name: 'wipe', arguments: {} }],
  ['interaction.start', { toolName: 'wipe', initialParams: {} }],
])('%s of a tool needs the scopes of that tool', async (method, params) => {
  expect(step.methods).toContain(method);
  expect(() => run(method, params, ['read'])).toThrow(/write/);
  await expect(run(method, params, ['write'])).resolves.toBeDefined();
});
