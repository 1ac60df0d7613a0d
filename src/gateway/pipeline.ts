// The order of everything that happens to a message. A request arrives on a transport (mcp/listen/), is parsed (mcp/wire/), and its era turns it
// into an exchange (mcp/eras/). It then passes these layers, and the answer comes back through them:
//
//   events     tells those who watch, the audit log among them, of its begin and end  events-layer.ts
//   observe    counts it and traces it                                           features/observe/
//   rate       refuses what a caller may not do so often                         features/rate/
//   flows      lets clients that speak MCP Flow play any tool                    features/flow/
//   questions  finds a person for whatever is asked behind it                    people/
//   steps      the middleware of the configuration, outermost first              chain/, features/
//   servers    the router finds the server that owns the name, and that server   router/, servers/
//              gets the request in its own dialect
//
// Steps and servers are replaced together while clients stay connected, so they are one target (routed-chain.ts). For `createGateway` the list of
// features/index.ts is this order; `parley wrap` and the mcp-chain classes name the layers that they need. This file loads none of them.
import type { Layer, Target } from '../kernel/target.ts';

interface PipelineLayers {
  events?: Layer | undefined;
  observe?: Layer | undefined;
  rate?: Layer | undefined;
  flows?: Layer | undefined;
  questions?: Layer | undefined;
}

/** `servers`: one server, or many behind their steps. */
export function createPipeline(servers: Target, layers: PipelineLayers): Target {
  const { events, observe, rate, flows, questions } = layers;
  return behindLayers(
    servers,
    [events, observe, rate, flows, questions].flatMap((layer) => layer ?? []),
  );
}

/** `layers`: outermost first. */
export function behindLayers(servers: Target, layers: readonly Layer[]): Target {
  return layers.reduceRight((inner, layer) => layer(inner), servers);
}
