// Counters, spans, and the pages that say whether a gateway is up.
import { isLocalRequest } from '../../../mcp/listen/guard.ts';
import { isServerTarget } from '../../servers/target-options.ts';
import { defineFeature } from '../feature.ts';
import type { GatewayView } from '../feature.ts';
import { Observer } from './observer.ts';
import type { GatewayState, ObserveOptions } from './observer.ts';
import { serverFamilies } from './vitals.ts';

export interface ObserveFeatureOptions {
  /** Counters and spans; /healthz and /readyz are always served. */
  observe?: ObserveOptions | undefined;
}

export const observe = defineFeature<ObserveFeatureOptions>({
  name: 'observe',
  create({ observe: options = {} }, { gateway, events, log }) {
    const observer = new Observer(options, () => toState(gateway), { events, log });
    return {
      layer: observer.layer,
      member: (member) => observer.member(member),
      serverLog: (log, server) => observer.log(log, server),
      pages: (isPrivate) => observer.pages(isPrivate, isLocalRequest),
    };
  },
});

function toState({ members, parked, isStopping, metrics }: GatewayView): GatewayState {
  const servers = members.map(({ name, target, settings = {} }) => ({
    name,
    target,
    state: isServerTarget(target) ? target.status.state : ('ready' as const),
    isEager: (settings as { start?: string }).start === 'eager',
  }));
  return { servers, parked, isStopping, families: async () => [...metrics, ...(await serverFamilies(members))] };
}
