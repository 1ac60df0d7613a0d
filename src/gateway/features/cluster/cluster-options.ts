// What makes a gateway one of several that serve as one.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { State } from '../../../kernel/state/state.ts';

export interface ClusterOptions {
  /** The internal port, at which other gateways forward requests. It serves nobody else. */
  listen?: number | undefined;
  /** The address of the internal port. Default: that of all networks, because others must reach it. */
  host?: string | undefined;
  /** The URL at which the other gateways reach the internal port, such as `http://10.0.0.7:8471`. Needed with a shared `state`. */
  advertise?: string | undefined;
  /** Without a shared `state`: all gateways by name, with the URLs of their internal ports. */
  nodes?: Record<string, string> | undefined;
  /** Which one of `nodes` this gateway is. */
  self?: string | undefined;
  /** Digests of what this gateway is configured with, by key. With a shared `state`, gateways say in which keys they differ from each other. */
  digests?: (() => Readonly<Record<string, string>>) | undefined;
}

/** The options of the whole gateway that matter here. */
interface Around {
  keys?: readonly string[] | undefined;
  sealer?: unknown;
  state?: State | undefined;
}

const NAME = /^[A-Za-z0-9_-]{1,32}$/;

/** Throws for options with which gateways could not serve as one. */
export function checkCluster(
  { listen, nodes, self, advertise }: ClusterOptions,
  { keys, sealer, state }: Around,
): void {
  if (!keys?.length && !sealer)
    refuse('it needs `keys`, the same ones at all gateways: what one seals, the others open');
  if (listen === undefined) refuse('`listen` is missing: the internal port, such as 8471');
  if (nodes) return checkListed(nodes, self);
  if (!state?.isShared)
    refuse('it needs a shared `state`, such as redis://redis:6379, or all gateways in `cluster.nodes`');
  if (advertise === undefined)
    refuse('`advertise` is missing: the URL at which the other gateways reach this one, such as http://${POD_IP}:8471');
  checkUrl('advertise', advertise);
}

function checkListed(nodes: Record<string, string>, self: string | undefined): void {
  if (self === undefined || !Object.hasOwn(nodes, self)) refuse('`self` must say which one of `nodes` this gateway is');
  for (const [name, url] of Object.entries(nodes)) {
    if (!NAME.test(name)) refuse(`the name ${JSON.stringify(name)} must be letters, digits, - and _, at most 32`);
    checkUrl(`nodes.${name}`, url);
  }
}

function checkUrl(option: string, url: string): void {
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isUrl) refuse(`\`${option}\` must be a URL like http://10.0.0.7:8471, not ${JSON.stringify(url)}`);
}

function refuse(reason: string): never {
  throw new GatewayError('BAD_OPTION', { option: 'cluster', reason });
}
