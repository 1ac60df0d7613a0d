// Several gateways that serve as one, and servers that exist once among them. The node itself is made before all features (complete-options.ts), because
// ids have its mark.
import { GatewayError } from '../../../kernel/base/errors.ts';
import { isCommandAddress } from '../../../mcp/connect/address.ts';
import { defineFeature } from '../feature.ts';
import type { GatewayContext, OpenedServer, OpenServer } from '../feature.ts';
import type { UpstreamTarget } from '../../servers/upstream-target.ts';
import type { ClusterOptions } from './cluster-options.ts';
import { PlacedServer } from './placed-server.ts';

export interface ClusterFeatureOptions {
  /**
   * Makes it one of several gateways that serve as one behind any load balancer. Needs `keys`, and a shared `state` or a list of the gateways.
   * Default: it is alone.
   */
  cluster?: ClusterOptions | undefined;
}

export interface PlacementSettings {
  /**
   * `one`: its process runs at one of the gateways that serve as one, for the clients of all. Default: each of them runs its own.
   */
  placement?: 'one' | 'each' | undefined;
}

export const cluster = defineFeature<ClusterFeatureOptions>({
  name: 'cluster',
  create(_, context) {
    const placed = new Set<PlacedServer>();
    const { nodes } = context;
    return {
      ...(nodes && { metrics: () => nodes.families }),
      target(server, open) {
        const { placement, share } = server.settings as PlacementSettings & { share?: string };
        if (placement !== 'one') return undefined;
        checkPlacement(server, context, share);
        return place(server, { open, context, placed });
      },
      sendAway: () => placed.forEach((one) => void one.handOn()),
    };
  },
});

function checkPlacement(
  { address, name }: OpenedServer,
  { nodes, state }: GatewayContext,
  share: string | undefined,
): void {
  const refuse = (reason: string): never => {
    throw new GatewayError('BAD_OPTION', { option: `placement of ${name}`, reason });
  };
  if (typeof address !== 'object' || !isCommandAddress(address)) refuse('only a command can be placed');
  if (share === 'session') refuse(`one process cannot have \`share: "${share}"\``);
  if (state.isShared && !nodes) refuse('gateways that share a `state` need `cluster` for it');
  if (nodes && !state.isShared) refuse('it needs a shared `state`: gateways in a list cannot agree on who runs it');
}

interface Placing {
  open: OpenServer;
  context: GatewayContext;
  placed: Set<PlacedServer>;
}

function place({ name, address, log }: OpenedServer, { open, context, placed }: Placing): UpstreamTarget {
  const { nodes, state, sealer, clock, limits } = context;
  const alone = { share: 'all', limits: { ...limits, maxProcesses: 1 } } as const;
  if (!nodes) return open(alone); // one gateway is the one
  if (typeof address !== 'object' || !isCommandAddress(address)) return open();
  const run = (fence: number): UpstreamTarget => {
    const env = { ...address.env, PARLEY_FENCE: String(fence) };
    return open({ ...alone, address: { ...address, env }, definitions: undefined });
  };
  const one = new PlacedServer({ name, nodes, state, sealer, clock, log, limits, run });
  placed.add(one);
  const target = open({ address: one.route, share: 'all', era: 'stateless', revision: undefined });
  const [retire, close] = [target.retire.bind(target), target.close.bind(target)];
  const end = async (): Promise<void> => {
    await one.close();
    placed.delete(one);
  };
  target.retire = async () => {
    await Promise.all([retire(), one.handOn()]);
    await end();
  };
  target.close = async () => {
    await Promise.all([close(), end()]);
  };
  return target;
}
