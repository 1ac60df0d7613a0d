// Flows that run as tasks: what is for our page alone is not a form of the task, and who cannot be asked is not given one.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import type { ParleyServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import { FakeBrowser } from '../../src/people/page/fake-round.contract.ts';
import { connected } from '../helpers/fixture-server.ts';
import { within } from '../helpers/until.ts';

const GRACE_MS = 50;

const unlock = flow({ name: 'unlock', description: 'Unlock', long: true }, async (ask) => {
  await ask.step('prepare', () => sleep(4 * GRACE_MS));
  const code = await ask.text('code', { message: 'Which code?', secret: true });
  return ask.step('use', async (step) => `${(await step.reveal(code)).length} characters`);
});
const publish = flow({ name: 'publish', description: 'Publish', long: true }, async (ask) => {
  await ask.step('prepare', () => sleep(4 * GRACE_MS));
  return (await ask.confirm('sure', { message: 'Sure?' })) ? 'published' : 'kept';
});

/** Goes from page to page when it is told to. */
let turnPage = (): void => {};
const copy = flow({ name: 'copy', description: 'Copy', long: true }, (ask) =>
  ask.step('copy', async (step) => {
    for (const [index, page] of ['first page', 'second page'].entries()) {
      step.progress(index + 1, 2, page);
      await new Promise<void>((resolve) => (turnPage = resolve));
    }
    return 'copied';
  }),
);

let server: ParleyServer;
let url: string;
beforeAll(async () => {
  const log = createLog({ level: 'silent' });
  server = createServer({ name: 'tasks', version: '1', log, taskGraceMs: GRACE_MS });
  serveFlows(server, [unlock, publish, copy]);
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(() => server.close());

test.each(['2025-11-25', '2026-07-28'])('a secret of a task is asked by link alone: %s', async (revision) => {
  const shown: string[] = [];
  const states: string[] = [];
  await using client = await connected(url, {
    revision,
    elicitUrls: true,
    async onElicit(request) {
      shown.push(request.mode ?? 'form');
      await new FakeBrowser().fill((request as { url: string }).url, { 'q0.0': 'correct horse' });
      return { action: 'accept' };
    },
  });
  const onTask = (task: { status: string }): void => void states.push(JSON.stringify(task));
  const { content } = await within('the task', client.callTool('unlock', {}, { task: true, onTask }));
  expect(content).toMatchObject([{ text: '13 characters' }]);
  expect(shown).toEqual(['url']);
  expect(states.length).toBeGreaterThan(1);
  expect(states.join()).not.toMatch(/requestedSchema|password/);
});

test.each(['2025-11-25', '2026-07-28'])('a client of %s that opens no links gets an explanation', async (revision) => {
  await using client = await connected(url, { revision, onElicit: () => ({ action: 'cancel' }) });
  const { content, isError } = await within('the task', client.callTool('unlock', {}, { task: true }));
  expect({ content, isError }).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Only the user can answer this') }],
  });
});

test('a client that cannot be asked is asked by its model, however long the flow takes', async () => {
  await using client = await connected(url, { revision: '2026-07-28' });
  const held = await within('the question', client.callTool('publish'));
  const handle = held._meta?.['mcp-parley/handle'];
  const { content } = await client.callTool('parley_answer', { handle, answer: { sure: true } });
  expect(content).toMatchObject([{ text: 'published' }]);
});

test.each(['2025-11-25', '2026-07-28'])('a task of %s says how far its step is', async (revision) => {
  await using client = await connected(url, { revision, onElicit: () => ({ action: 'cancel' }) });
  const said: unknown[] = [];
  const onTask = ({ statusMessage }: { statusMessage?: string | undefined }): void => {
    if (statusMessage === undefined || said.at(-1) === statusMessage) return;
    said.push(statusMessage);
    turnPage();
  };
  const { content } = await within('the task', client.callTool('copy', {}, { task: true, onTask }));
  expect(content).toMatchObject([{ text: 'copied' }]);
  expect(said).toEqual(['first page', 'second page']);
});
