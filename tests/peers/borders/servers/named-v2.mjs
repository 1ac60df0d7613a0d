// An SDK v2 server of both eras on stdio: NAME, TOOLS (comma-separated), and GATE, a file it waits for before it answers anything.
import { existsSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { NAME = 'named', TOOLS = '', GATE } = process.env;
const names = TOOLS.split(',').filter(Boolean);
for (;;) {
  if (!GATE || existsSync(GATE)) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

serveStdio(() => {
  const server = new McpServer({ name: NAME, version: '1.0.0' });
  for (const name of names) {
    server.registerTool(name, { description: `${name} of ${NAME}`, inputSchema: z.looseObject({}) }, (args) => ({
      content: [
        { type: 'text', text: `${name} of ${NAME}` },
        { type: 'text', text: JSON.stringify(args) },
      ],
    }));
  }
  return server;
});
