// `parley status` says why a server fails. Each kind of client has a connection of its own to it, and each of them may have failed for another reason.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../mcp/eras/fake-context.contract.ts';
import { SPEAKING } from '../../../mcp/eras/fake-views.contract.ts';
import type { ClientView } from '../../../kernel/exchange.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { UpstreamTarget } from '../upstream-target.ts';

const client = (name: string): ClientView => ({
  ...SPEAKING.handshake,
  revision: '2025-11-25',
  info: { name, version: '1' },
  capabilities: { experimental: { [name]: {} } },
  principal: name,
});

it('the status of a server has the newest reason of all its connections', async () => {
  const clock = new FakeClock();
  const reasons = ['it did not answer', 'Error: Could not locate the bindings file'];
  const fail = () => {
    throw new GatewayError('UPSTREAM_CLOSED', { server: 'sqlite', reason: reasons.shift() });
  };
  const target = new UpstreamTarget({
    name: 'sqlite',
    address: { canReopen: true, open: fail },
    client: { name: 'parley', version: '1' },
    era: 'handshake',
    clock,
    log: createLog({ level: 'silent' }),
  });
  await target.ready(client('one'));
  expect(target.status.failure).toContain('it did not answer');
  clock.advance(1000);
  await target.ready(client('two'));
  expect(target.status.failure).toContain('Could not locate');
  await target.close();
});
