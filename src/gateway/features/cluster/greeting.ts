// A node that has just come makes itself known to the others before it takes its first request: what they get next may have its mark. Otherwise they
// would learn of it only when they next look, and refuse until then what it has. One that is about to end says so in the same way.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { HttpHandler } from '../../../kernel/base/http.ts';
import type { HopAddress, JoinedNodes } from '../../../kernel/nodes/nodes.ts';
import { nodeInPrincipal } from './hop-grants.ts';

export const GREETING_PATH = '/nodes/joined';
/** A node that does not answer may have ended a moment ago. */
const ANSWER_MS = 1000;

/** Never rejects: a node that was not reached looks for itself, within seconds. */
export async function greetOthers(nodes: JoinedNodes): Promise<void> {
  const others = nodes.report().filter(({ isSelf }) => !isSelf);
  await Promise.all(others.map(({ node }) => greet(node, nodes).catch(() => {})));
}

/** `look`: learns of a node. */
export function answerGreetings(look: (node: string) => Promise<unknown>): HttpHandler {
  return (request, response) => {
    const node = nodeInPrincipal(request.hop?.principal);
    const known = node === undefined ? Promise.resolve() : look(node);
    const end = (): void => void response.writeHead(204).end();
    known.then(end, end);
  };
}

async function greet(node: string, nodes: JoinedNodes): Promise<void> {
  const hop = await nodes.hopTo(node, { method: 'POST', path: GREETING_PATH });
  if (hop) await post(hop);
}

function post({ url, headers }: HopAddress): Promise<void> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = start(new URL(GREETING_PATH, url), { method: 'POST', headers, agent: false, timeout: ANSWER_MS });
    sent.on('response', (answer) => answer.resume().on('close', resolve));
    sent.on('timeout', () => sent.destroy());
    sent.on('error', reject);
    sent.on('close', resolve);
    sent.end();
  });
}
