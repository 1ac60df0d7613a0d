// The fixtures `chain`, `chain-mw` and `chain-faulty`: a gateway in front of an external server.
import { fileURLToPath } from 'node:url';
import { GatewayError, createGateway } from 'mcp-parley';

const external = { command: process.execPath, args: [fileURLToPath(new URL('external-server.mjs', import.meta.url))] };

/** The policy at the front. */
function denyEtc(exchange, next) {
  const { uri } = exchange.params;
  if (exchange.method === 'resources/read' && String(uri).startsWith('file:///etc/')) {
    throw new GatewayError('ACCESS_DENIED', { uri });
  }
  return next();
}

function passUnchanged(exchange, next) {
  return next();
}

async function acme(exchange, next) {
  const { name } = exchange.params;
  if (exchange.method === 'tools/call' && name?.startsWith('acme_')) {
    exchange.params = { ...exchange.params, name: name.slice('acme_'.length) };
  }
  const outcome = await next();
  if (exchange.method === 'tools/list') {
    const tools = outcome.result.tools.map((tool) => ({
      ...tool,
      name: `acme_${tool.name}`,
      description: `ACME: ${tool.description}`,
    }));
    outcome.result = { ...outcome.result, tools };
  }
  return outcome;
}

function failOnPrompts(exchange, next) {
  if (exchange.method === 'prompts/list') throw new Error('This step fails on purpose');
  return next();
}

/** `more`: further options, of a gateway that is one of several. */
const chain = (step) => (more) =>
  createGateway({
    name: 'mcp-chain-server',
    version: '1.0.0',
    servers: { external },
    steps: [denyEtc, step],
    ...more,
  });

/** By the names of their fixtures. */
export const CHAINS = {
  chain: chain(passUnchanged),
  'chain-mw': chain(acme),
  'chain-faulty': chain(failOnPrompts),
};
