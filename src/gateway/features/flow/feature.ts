// Lets clients that speak MCP Flow play any tool.
import { defineFeature } from '../feature.ts';
import { FlowLayer } from './flow-layer.ts';

export const mcpFlow = defineFeature<object>({
  name: 'flow',
  create: (_options, { clock, log, limits, nodes }) => ({
    layer: (next) => new FlowLayer(next, { clock, log, limits, mark: nodes?.mark }),
  }),
});
