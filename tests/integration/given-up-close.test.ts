// A server that was given up ends in its own time. A gateway that is closed meanwhile waits for it, so that nothing runs on afterwards.
import { expect, test } from 'vitest';
import { createGateway, createLog } from 'mcp-parley';
import { childrenOf, fixture } from '../helpers/fixture-server.ts';
import { openSession } from '../helpers/mcp-http.ts';
import { until } from '../helpers/until.ts';

test.runIf(process.platform === 'linux')('closing waits for the process of a server that was given up', async () => {
  const before = childrenOf(process.pid);
  const limits = { maxBufferedBytes: 1_000_000 };
  const gateway = createGateway({ servers: { foe: fixture('hostile') }, limits, log: createLog({ level: 'silent' }) });
  const { url } = await gateway.listen({ port: 0 });
  const session = await openSession(url, { capabilities: { elicitation: {} } }); // with a process of its own
  const call = (name: string, args = {}) => session.call(name, args).then((reply) => reply.text, String);
  let told = '';
  const calls = [call('deaf').then((text) => (told = text))];
  await until('it is given up', () => {
    if (calls.length < 50) calls.push(call('echo', { text: 'x'.repeat(1_000_000) }));
    return told;
  });
  expect(told).toContain('does not read its input');
  await gateway.close();
  expect(childrenOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
  await Promise.all(calls);
});
