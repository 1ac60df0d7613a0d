import { expect, it } from 'vitest';
import { createLog } from '../../../kernel/base/log.ts';
import { createGateway } from '../../gateway.ts';

it.each([
  [
    'throws',
    () => {
      throw new Error('mine');
    },
  ],
  ['rejects', () => Promise.reject(new Error('mine'))],
])('a recorder whose count of lost events %s is in the log, and the other metrics are served', async (_, lost) => {
  const logged: string[] = [];
  const log = createLog({ write: (line) => void logged.push(line) });
  const audit = Object.assign(() => {}, { lost: lost as unknown as () => number });
  const gateway = createGateway({ servers: {}, audit, observe: { metrics: true }, log });
  const { port } = await gateway.listen({ port: 0 });
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(page).toContain('parley_audit_lost_total 0');
  expect(page).toContain('parley_build_info');
  expect(logged.join('')).toContain('audit.lost');
  await gateway.close();
});
