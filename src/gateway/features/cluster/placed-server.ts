// A server that exists once among all nodes. One node has the lease and runs it; all of them, that one included, use it at the internal port of this
// node. Invariants:
// 1. A process of the server is started only under a lease that is sure, and everything of it has ended, or was told to, when the lease is not.
// 2. What comes from a node reaches the process only while the lease is sure: a node that was paused passes nothing on when it wakes.
// 3. The next node begins when the lease has ended by itself, or was released after the process had ended.
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../kernel/base/http.ts';
import { ticksOf } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { GatewayError, toReadable } from '../../../kernel/base/errors.ts';
import type { Limits } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { pause } from '../../../kernel/base/timing.ts';
import type { Sealer } from '../../../kernel/crypto/seal.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JoinedNodes } from '../../../kernel/nodes/nodes.ts';
import type { Lease, State } from '../../../kernel/state/state.ts';
import type { Route } from '../../../mcp/connect/route.ts';
import type { ServerTarget } from '../../servers/target-options.ts';
import type { Attendance, PlacedLink } from './placed-link.ts';
import { LEAVING, pathOfPlaced } from './placed-path.ts';

export interface PlacedServerParts {
  name: string;
  nodes: JoinedNodes;
  state: State;
  sealer: Sealer;
  clock: Clock;
  log: Log;
  limits: Limits;
  /** Runs it here. `fence`: higher for each later run. */
  run(fence: number): ServerTarget;
}

/** What runs here. */
interface Run {
  readonly lease: Lease;
  readonly target: ServerTarget;
  readonly serve: HttpHandler;
  close(): void;
  /** The requests by which nodes know that it is here. */
  readonly attending: Set<HttpResponse>;
  isLeaving: boolean;
}

const SET = 'placed';
/** Sure for two thirds of it; the rest is for the process to end. */
const LEASE_MS = 12_000;
const LOOK_MS = 300;
/** Longer than a lease of a node that was killed. */
const PATIENCE_MS = 20_000;

export class PlacedServer {
  readonly route: Route = { canReopen: true, open: () => this.#openLink() };
  readonly #parts: PlacedServerParts;
  readonly #unanswer: () => void;
  #run: Run | undefined;
  #taking: Promise<boolean> | undefined;
  #ended: Promise<void> | undefined;

  constructor(parts: PlacedServerParts) {
    this.#parts = parts;
    const path = pathOfPlaced(parts.name);
    this.#unanswer = parts.nodes.answer(path, (request, response) => this.#answer(request, response));
  }

  /** Lets the next node have it, once its calls have ended. Nothing is run here afterwards. */
  handOn(): Promise<void> {
    return (this.#ended ??= this.#handOn());
  }

  async close(): Promise<void> {
    void this.handOn();
    await this.#run?.target.close(); // calls that were to end have had their time
    await this.#ended;
    this.#unanswer();
  }

  async #handOn(): Promise<void> {
    await this.#taking?.catch(() => false);
    const run = this.#run;
    if (!run) return;
    run.isLeaving = true;
    for (const response of run.attending) response.write(LEAVING);
    await run.target.retire();
    await run.target.close();
    this.#forget(run);
    await run.lease.release().catch(() => {}); // it ends by itself
  }

  async #openLink(): Promise<PlacedLink> {
    const { name, nodes, limits, log } = this.#parts;
    const attend = (): Promise<Attendance> => this.#attend();
    const { PlacedLink } = await import('./placed-link.ts'); // late: it brings HTTP for clients, which few gateways need at start
    return new PlacedLink({ name, nodes, limits, log, attend }, await attend());
  }

  async #attend(): Promise<Attendance> {
    const { name, nodes, clock } = this.#parts;
    const until = ticksOf(clock) + PATIENCE_MS;
    const { attendAt } = await import('./placed-link.ts');
    for (;;) {
      const node = await this.#find();
      const attendance = node === undefined ? undefined : await attendAt(node, name, nodes);
      if (attendance) return attendance;
      if (ticksOf(clock) > until)
        throw new GatewayError('UPSTREAM_UNREACHABLE', { server: name, reason: 'no node runs it at the moment' });
      await pause(clock, LOOK_MS);
    }
  }

  /** The node that has it, which is this one if no other one does. */
  async #find(): Promise<string | undefined> {
    const { nodes, state, name } = this.#parts;
    if (this.#isHere || (await this.#take())) return nodes.self;
    const row: unknown = JSON.parse((await state.get(SET, name))?.value ?? '{}');
    const node = isObject(row) ? row.node : undefined;
    return typeof node === 'string' && node !== nodes.self && (await nodes.isAlive(node)) ? node : undefined;
  }

  get #isHere(): boolean {
    return this.#run !== undefined && !this.#run.isLeaving && this.#run.lease.isSure();
  }

  #take(): Promise<boolean> {
    if (this.#ended || this.#run) return Promise.resolve(false);
    return (this.#taking ??= this.#takeLease().finally(() => (this.#taking = undefined)));
  }

  async #takeLease(): Promise<boolean> {
    const { state, name, log, nodes } = this.#parts;
    const lease = await state.lease(`placed ${name}`, LEASE_MS);
    if (!lease) return false;
    try {
      await this.#announce(lease.fence);
    } catch (thrown) {
      await lease.release().catch(() => {});
      throw thrown;
    }
    if (!lease.isSure()) return false;
    this.#run = await this.#begin(lease);
    lease.onLost(() => this.#lose());
    log.info({ server: name, node: nodes.self, fence: lease.fence }, 'cluster.placed');
    return this.#isHere;
  }

  async #announce(fence: number): Promise<void> {
    const { state, name, nodes } = this.#parts;
    const row = JSON.stringify({ v: 1, node: nodes.self, fence });
    for (;;) {
      const version = (await state.get(SET, name))?.version ?? 0;
      if ((await state.put(SET, name, row, { version })) !== undefined) return;
    }
  }

  async #begin(lease: Lease): Promise<Run> {
    const { name, limits, log, clock, sealer } = this.#parts;
    const [{ createServeContext }, { createHttpEndpoint }] = await Promise.all([
      import('../../../mcp/eras/serve/serve-context.ts'),
      import('../../../mcp/listen/http/http-endpoint.ts'),
    ]);
    const target = this.#parts.run(lease.fence);
    const endpoint = createHttpEndpoint(createServeContext(target, { limits, log, clock, sealer }), {
      path: pathOfPlaced(name),
    });
    const { handle: serve } = endpoint;
    return { lease, target, serve, close: () => endpoint.close(), attending: new Set(), isLeaving: false };
  }

  #lose(): void {
    const run = this.#run;
    if (!run) return;
    const { log, name, nodes } = this.#parts;
    log.warn({ server: name, node: nodes.self, fence: run.lease.fence }, 'cluster.placement-lost');
    this.#forget(run);
    run.target.close().catch((error: unknown) => log.error({ error: toReadable(error) }, 'cluster.failed'));
  }

  #forget(run: Run): void {
    if (this.#run === run) this.#run = undefined;
    run.close();
    for (const response of run.attending) response.destroy();
  }

  /** What comes from nodes. */
  #answer(request: HttpRequest, response: HttpResponse): void {
    const run = this.#run;
    if (!run?.lease.isSure()) return void response.writeHead(404).end();
    if (!request.url!.endsWith('/alive')) return run.serve(request, response);
    if (run.isLeaving) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    run.attending.add(response);
    response.on('close', () => run.attending.delete(response));
  }
}
