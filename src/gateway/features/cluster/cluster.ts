// One of several gateways that serve as one: who the others are, and the internal port at which they forward what this one has.
import type { Clock } from '../../../kernel/base/clock.ts';
import { readSafely } from '../../../kernel/base/author-callback.ts';
import { toReadable } from '../../../kernel/base/errors.ts';
import { addressOf } from '../../../kernel/base/http.ts';
import type { HttpHandler } from '../../../kernel/base/http.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import type { Family } from '../../../kernel/base/metric.ts';
import { pause } from '../../../kernel/base/timing.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { markedNode, toMark } from '../../../kernel/nodes/nodes.ts';
import type {
  ForwardedVisit,
  ForwardOutcome,
  HopAddress,
  JoinedNodes,
  NodeReport,
  NodeServing,
} from '../../../kernel/nodes/nodes.ts';
import type { State } from '../../../kernel/state/state.ts';
import { version } from '../../../kernel/version.ts';
import { checkCluster } from './cluster-options.ts';
import type { ClusterOptions } from './cluster-options.ts';
import type { Forwarder } from './forward-request.ts';
import { HOP_HEADER, HopGrants, toNodePrincipal } from './hop-grants.ts';
import type { InternalPort } from './internal-port.ts';
import type { NodeFacts } from './node-facts.ts';
import { ListedNodes, NodeRegistrations } from './node-registrations.ts';
import type { NodeDirectory } from './node-registrations.ts';

interface ClusterParts {
  state: State | undefined;
  sealer: Sealer;
  clock: Clock;
  log: Log;
  limits: Pick<Limits, 'maxConnections'>;
}

/** The state does not answer: then nobody knows who has ended. */
function ignore(): void {}

/** Until all others have seen that a node drains. */
const SETTLE_MS = 3000;

/** Throws if it cannot be one of several. */
export function joinCluster(
  options: ClusterOptions,
  {
    keys,
    state,
    ...parts
  }: Omit<ClusterParts, 'state'> & { keys?: readonly string[] | undefined; state?: State | undefined },
): JoinedNodes {
  checkCluster(options, { keys, state });
  return new Cluster(options, { ...parts, state });
}

class Cluster implements JoinedNodes {
  readonly self: string;
  readonly mark: string;
  readonly #options: ClusterOptions;
  readonly #parts: ClusterParts;
  readonly #grants: HopGrants;
  #forwarder: Forwarder | undefined;
  readonly #returns: (() => void)[] = [];
  readonly #outcomes = new Map<ForwardOutcome['kind'], number>();
  /** What is answered to nodes alone, by path. */
  readonly #inside = new Map<string, HttpHandler>();
  readonly #mourners = new Set<(node: string) => void>();
  readonly #started: number;
  #sessions = (): number => 0;
  #directory: NodeDirectory | undefined;
  #port: InternalPort | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: ClusterOptions, parts: ClusterParts) {
    this.#options = options;
    this.#parts = parts;
    this.self = options.self ?? randomId().replaceAll(/[-_]/g, 'x').slice(0, 8);
    this.mark = toMark(this.self);
    this.#grants = new HopGrants(parts.sealer, parts.clock, this.self);
    this.#started = parts.clock.now();
    if (options.nodes) this.#directory = new ListedNodes(options.nodes, this.self, () => this.#facts());
  }

  ownerOf(id: unknown): string | undefined {
    const node = markedNode(id);
    if (node === undefined || node === this.self) return undefined;
    return this.#directory?.find(node) && node; // one that drains, too: its questions and calls end there
  }

  sessionOwnerOf(id: string): string | undefined {
    const node = this.ownerOf(id);
    return node !== undefined && this.#directory?.find(node)?.isDraining ? undefined : node;
  }

  async isAlive(node: string): Promise<boolean> {
    return (await this.#directory?.look(node)) !== undefined || !(await this.isSettled());
  }

  async isSettled(): Promise<boolean> {
    return (await this.#directory?.isSettled()) ?? true;
  }

  onReturn(back: () => void): void {
    this.#returns.push(back);
  }

  async forward(node: string, visit: ForwardedVisit): Promise<ForwardOutcome> {
    const outcome = await this.#forward(node, visit);
    this.#outcomes.set(outcome.kind, (this.#outcomes.get(outcome.kind) ?? 0) + 1);
    if (outcome.kind === 'unsent' && outcome.isRefused) await this.#directory?.bury(node).catch(ignore);
    return outcome;
  }

  async #forward(node: string, visit: ForwardedVisit): Promise<ForwardOutcome> {
    const found = this.#directory?.find(node) ?? (await this.#directory?.look(node));
    if (!found) return { kind: 'unsent' };
    const { request, principal, identity, resource } = visit;
    const asked = { method: request.method!, path: request.url! };
    const { url, clockAhead, isDraining } = found;
    const grant = this.#grants.seal(asked, {
      to: node,
      clockAhead,
      principal,
      identity,
      resource,
      address: addressOf(request),
    });
    return this.#forwarder ? this.#forwarder.forward({ node, url, isDraining }, grant, visit) : { kind: 'unsent' };
  }

  answer(path: string, serve: HttpHandler): () => void {
    this.#inside.set(path, serve);
    return () => {
      if (this.#inside.get(path) === serve) this.#inside.delete(path);
    };
  }

  onGone(gone: (node: string) => void): () => void {
    this.#mourners.add(gone);
    return () => this.#mourners.delete(gone);
  }

  async hopTo(node: string, request: { method: string; path: string }): Promise<HopAddress | undefined> {
    const url = this.urlOf(node) ?? (await this.#directory?.look(node))?.url;
    if (url === undefined) return undefined;
    const clockAhead = this.#directory?.find(node)?.clockAhead ?? 0;
    const grant = this.#grants.seal(request, { to: node, clockAhead, principal: toNodePrincipal(this.self) });
    return { url: new URL(url), headers: { [HOP_HEADER]: grant } };
  }

  /** The own port is on this machine, whatever others call it. */
  urlOf(node: string): string | undefined {
    if (node !== this.self) return this.#directory?.find(node)?.url;
    const { host = '' } = this.#options;
    const local = ['', '0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
    return this.#port && `http://${local.includes(':') ? `[${local}]` : local}:${this.#port.port}`;
  }

  report(): NodeReport[] {
    return this.#directory?.report() ?? [];
  }

  #facts(): NodeFacts {
    return {
      version: version(),
      started: this.#started,
      sessions: this.#sessions(),
      config: this.#digests(),
    };
  }

  /** Undefined if the function of the program fails: this gateway is then compared with no other one. */
  #digests(): NodeFacts['config'] {
    const fail = (thrown: unknown): void =>
      this.#parts.log.error({ callback: 'cluster.digests', error: toReadable(thrown) }, 'callback.failed');
    return readSafely(() => this.#options.digests?.(), undefined, fail);
  }

  open(serving: NodeServing): Promise<void> {
    return (this.#opening ??= this.#open(serving));
  }

  /** Loaded with the port: a gateway on stdio needs none of it. */
  async #open({ serve, sessions }: NodeServing): Promise<void> {
    this.#sessions = sessions;
    const [{ openInternalPort }, { Forwarder: Loaded }, greeting] = await Promise.all([
      import('./internal-port.ts'),
      import('./forward-request.ts'),
      import('./greeting.ts'),
    ]);
    this.#forwarder = new Loaded();
    const { listen: port = 0, host = '0.0.0.0', advertise = '' } = this.#options;
    const { log, limits } = this.#parts;
    const { maxConnections } = limits;
    this.answer(
      greeting.GREETING_PATH,
      greeting.answerGreetings(async (node) => this.#directory?.look(node)),
    );
    this.#port = await openInternalPort({
      port,
      host,
      maxConnections,
      grants: this.#grants,
      serve: this.#served(serve),
      log,
    });
    this.#directory ??= this.#register(advertise);
    await this.#directory.ready;
    if (!this.#options.nodes) await greeting.greetOthers(this);
    log.info({ node: this.self, port: this.#port.port }, 'cluster.joined');
  }

  #served(serve: HttpHandler): HttpHandler {
    return (request, response) => {
      const [, path] = /^((?:\/[^/?]+){2})(?:\/alive)?$/.exec(request.url!) ?? [];
      const inside = path === undefined ? undefined : this.#inside.get(path);
      (inside ?? serve)(request, response);
    };
  }

  #register(url: string): NodeRegistrations {
    const { state, clock, log } = this.#parts;
    const onGone = (node: string): void => {
      this.#forwarder?.abandon(node);
      for (const mourn of this.#mourners) mourn(node);
    };
    const onReturn = (): void => this.#returns.forEach((back) => back());
    const facts = (): NodeFacts => this.#facts();
    return new NodeRegistrations({ self: this.self, url, facts, state: state!, clock, log, onReturn, onGone });
  }

  /** Sends no new sessions here. */
  async drain(): Promise<void> {
    await this.#directory?.drain();
    // They may not reuse a connection that closes, and look only every two seconds.
    if (!this.#options.nodes) await import('./greeting.ts').then(({ greetOthers }) => greetOthers(this));
    if (this.#directory?.size) await pause(this.#parts.clock, SETTLE_MS);
  }

  async close(): Promise<void> {
    await this.#directory?.close();
    await this.#port?.close();
    this.#forwarder?.close();
  }

  get families(): Family[] {
    const samples = [...this.#outcomes].map(([outcome, value]) => ({ labels: { outcome }, value }));
    const nodes = [{ labels: {}, value: (this.#directory?.size ?? 0) + 1 }];
    return [
      {
        name: 'parley_forwarded_total',
        help: 'Requests passed on to other nodes, by outcome.',
        type: 'counter',
        samples,
      },
      {
        name: 'parley_nodes',
        help: 'Gateways that serve as one, as this one sees them.',
        type: 'gauge',
        samples: nodes,
      },
    ];
  }
}
