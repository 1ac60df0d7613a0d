import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { FakeClock } from '../../../kernel/fake-exchange.contract.ts';
import { HopGrants } from './hop-grants.ts';
import { openInternalPort } from './internal-port.ts';

it('the internal port of a gateway has a limit on connections', async () => {
  const grants = new HopGrants(createSealer(['a key of this test']), new FakeClock(), 'here');
  const log = createLog({ write: () => {} });
  const options = { host: '127.0.0.1', maxConnections: 2, grants, serve: () => {}, log };
  const opened = await openInternalPort({ ...options, port: 0 });
  const open = () => connect(opened.port, '127.0.0.1').on('error', () => {});
  const kept = [open(), open()];
  await Promise.all(kept.map((socket) => once(socket, 'connect')));
  const refused = open();
  await once(refused, 'close');
  expect(kept.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  await opened.close();
});
