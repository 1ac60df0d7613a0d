// A tool that asks more often than stateless clients take part in: at the limit the call goes on by handle, and nothing is lost.
import { expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { connected, textOf } from '../helpers/fixture-server.ts';

const ROUNDS = 12;
const log = createLog({ level: 'silent' });

function survey() {
  const server = createServer({ name: 'survey', version: '1', log, limits: { maxRounds: 100 } });
  server.tool('survey', {}, async (_, call) => {
    const answers: unknown[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const { content } = await call.ask.elicit({
        message: `Question ${round}`,
        schema: { answer: { type: 'string' } },
      });
      answers.push(content?.answer);
    }
    return answers.join(' ');
  });
  return server;
}

test.each([['in this process'], ['of the stateless era'], ['of the handshake era']])(
  'asked by a server %s',
  async (where) => {
    const behind = survey();
    const revision = where === 'of the handshake era' ? '2025-11-25' : '2026-07-28';
    const { url: server } = await behind.listen({ port: 0 });
    const entry = where === 'in this process' ? behind : { server, revision };
    const gateway = createGateway({ servers: { survey: entry }, log, ask: { channels: ['relay'] } });
    try {
      const { url } = await gateway.listen({ port: 0 });
      let asked = 0;
      await using client = await connected(url, {
        revision: '2026-07-28',
        onElicit: () => ({ action: 'accept', content: { answer: String(++asked) } }),
      });
      let result = await client.callTool('survey');
      expect(asked).toBe(8);
      for (;;) {
        const handle = (result._meta as Record<string, string> | undefined)?.['mcp-parley/handle'];
        if (handle === undefined) break;
        result = await client.callTool('parley_answer', { handle, answer: { answer: String(++asked) } });
      }
      expect(result.content).toMatchObject([
        { text: Array.from({ length: ROUNDS }, (_, index) => index + 1).join(' ') },
      ]);
    } finally {
      await gateway.close();
      await behind.close();
    }
  },
);

test('a handshake client is asked as often as it takes', async () => {
  const behind = survey();
  const { url: server } = await behind.listen({ port: 0 });
  const gateway = createGateway({ servers: { survey: { server, revision: '2026-07-28' } }, log });
  try {
    const { url } = await gateway.listen({ port: 0 });
    let asked = 0;
    await using client = await connected(url, {
      revision: '2025-11-25',
      onElicit: () => ({ action: 'accept', content: { answer: String(++asked) } }),
    });
    expect(await textOf(client, 'survey')).toMatch(/^1 2 .* 12$/);
  } finally {
    await gateway.close();
    await behind.close();
  }
});
