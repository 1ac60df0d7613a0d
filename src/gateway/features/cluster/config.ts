// `cluster` in a configuration.
import { defineKey } from '../../../kernel/config/config-key.ts';
import { withoutUndefined } from '../../../kernel/config/without-undefined.ts';
import { choice, object, record, text, integer } from '../../../kernel/config/shape.ts';

export const clusterKey = defineKey({
  shape: object(
    {
      listen: integer('The internal port, at which the other gateways forward requests.'),
      host: text('The address of the internal port. Default: 0.0.0.0.'),
      advertise: text('The URL at which the other gateways reach the internal port, such as `http://${POD_IP}:8471`.'),
      nodes: record(text('The URL of its internal port.'), 'Without a shared `state`: all gateways by name.'),
      self: text('Which one of `nodes` this gateway is.'),
    },
    'Makes it one of several gateways that serve as one (docs/guides/three-machines.md).',
  ),
  normalize: (input) => input && withoutUndefined({ ...input }),
  apply: 'restart',
  quiet: [],
});

/** Of a server. */
export const placementKey = defineKey({
  shape: choice(
    ['each', 'one'],
    'Of gateways that serve as one (docs/guides/three-machines.md). one: a single gateway runs its command, for the clients of all. Default: each runs its own.',
  ),
  normalize: (input) => input,
  apply: 'restart',
  quiet: [''],
});
