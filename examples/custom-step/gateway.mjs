// The gateway between: one server behind it, and a step from a TypeScript file.
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';
import { loadStep } from 'mcp-parley/middleware';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const gateway = createGateway({
  servers: { shop: { command: process.execPath, args: [here('shop.mjs')] } },
  steps: [await loadStep(here('ask-first.ts'))],
});
await gateway.listen({ stdio: true });
