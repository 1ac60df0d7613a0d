// Several gateways that serve as one. The node itself is made before all features (complete-options.ts), because ids have its mark.
import { defineFeature } from '../feature.ts';
import type { ClusterOptions } from './cluster-options.ts';

export interface ClusterFeatureOptions {
  /**
   * Makes it one of several gateways that serve as one behind any load balancer. Needs `keys`, and a shared `state` or a list of the gateways.
   * Default: it is alone.
   */
  cluster?: ClusterOptions | undefined;
}

export const cluster = defineFeature<ClusterFeatureOptions>({
  name: 'cluster',
  create: (_, { nodes }) => nodes && { metrics: () => nodes.families },
});
