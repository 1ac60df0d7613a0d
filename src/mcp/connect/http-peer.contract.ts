// The link under test and the real HTTP server that it talks to, as one disposable thing. Only tests use it.
import { serve, type Served } from './fixtures/serve.mjs';
import { createHttpLink, type HttpLinkOptions } from './links/streamable-http.ts';
import { started, type LinkPeer, type RecordedEvents } from '../../gateway/servers/upstream.contract.ts';

export async function open(
  handle: Parameters<typeof serve>[0],
  options: Partial<HttpLinkOptions> = {},
): Promise<LinkPeer & { told: RecordedEvents; server: Served }> {
  const server = await serve(handle);
  return Object.assign(await started(async () => linkTo(server, options)), { server });
}

export function linkTo(server: Served, options: Partial<HttpLinkOptions>): LinkPeer {
  const link = createHttpLink({ url: server.url, ...options });
  const dispose = async (): Promise<void> => {
    await link.close();
    await server.close();
  };
  return { link, [Symbol.asyncDispose]: dispose };
}
