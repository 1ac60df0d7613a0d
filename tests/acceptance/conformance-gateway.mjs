// A gateway in front of the conformance fixture only: the official suite must find the same through it as without it.
// `revision` is the one to speak to the fixture, whatever the client speaks.
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';

export const FIXTURE = fileURLToPath(new URL('fixture.mjs', import.meta.url));

/** `address`: a URL, or a command; `more`: further options of the gateway. */
export function createConformanceGateway(address, revision, more) {
  return createGateway({ servers: { fixture: { server: address, ...(revision && { revision }) } }, ...more });
}
