// A gateway in front of the conformance fixture and nothing else: what the official suite finds must be what it finds
// without the gateway. `revision` is the one that is spoken towards the fixture, whatever the client speaks.
import { fileURLToPath } from 'node:url';
import { createGateway } from 'mcp-parley';

export const FIXTURE = fileURLToPath(new URL('fixture.mjs', import.meta.url));

/** `address`: a URL, or a command. */
export function createConformanceGateway(address, revision) {
  return createGateway({ servers: { fixture: { server: address, ...(revision && { revision }) } } });
}
