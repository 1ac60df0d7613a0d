// What `parley flows ls` says of a session.
import { expect, it } from 'vitest';
import { flow } from '../../../flow/define.ts';
import { Sessions } from '../../../flow/session/sessions.ts';
import { memoryStore } from '../../../flow/store/memory/memory.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { readArgs } from '../../args/args.ts';
import type { FlowsCommand } from '../../args/flow-commands.ts';
import { createPrinter } from '../../terminal/print.ts';
import { listSessions } from './list-sessions.ts';

it.each([
  ['with the key of its server', ['the key'], 'The card was refused'],
  ['without it', undefined, 'failed; --seal-key NAME shows why'],
])('says why one has failed: %s', async (_, keys, about) => {
  const body = flow({ name: 'pay' }, async (ask) => {
    await ask.number('sum');
    throw new Error('The card was refused');
  });
  const store = memoryStore();
  const sessions = new Sessions([body], { store, keys: ['the key'], log: createLog({ level: 'silent' }) });
  const { header } = await sessions.start({ principal: 'me', tool: 'pay' });
  await sessions.answer({ principal: 'me', sessionId: header.id, answers: [{ value: 40 }] });
  let written = '';
  const print = createPrinter({ out: { write: (text) => (written += String(text)) }, env: {} });
  const command = readArgs(['flows', 'ls', '--state', 'failed']) as FlowsCommand;
  await listSessions({ store, keys, flows: [], options: {} }, { command, print, clock: systemClock });
  expect(written.split('\n')[1]).toMatch(new RegExp(`failed .* ${about}$`));
  await sessions.close();
});
