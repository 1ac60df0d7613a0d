// What is the case at this moment: servers, clients and open questions. What a server lists is asked for seldom, and only while somebody looks.
import type { HttpRequest } from '../../../kernel/base/http.ts';
import { printable, visible } from '../../../kernel/base/visible.ts';
import { secrets } from '../../../kernel/secrets/secrets.ts';
import { version } from '../../../kernel/version.ts';
import { readStatus } from '../../servers/gateway-status.ts';
import type { ServerStatus } from '../../servers/gateway-status.ts';
import { isServerTarget } from '../../servers/target-options.ts';
import type { Member } from '../../router/member.ts';
import type { GatewayContext, GatewayView } from '../feature.ts';
import type { ConnectedClients } from './connected-clients.ts';
import { maySee, toViewerView } from './viewers.ts';
import type { Viewer } from './viewers.ts';
import type { NowView, ServerRow } from './views.ts';
import type { WaitingQuestions } from './waiting-questions.ts';

interface NowSources {
  readonly context: GatewayContext;
  readonly name: string;
  readonly clients: ConnectedClients;
  readonly questions: WaitingQuestions;
}

/** How long the number of tools of each server is believed. */
const COUNTED_MS = 5000;

type ToolCounts = Pick<ServerRow, 'tools' | 'held'>;
const UNCOUNTED: ToolCounts = { tools: null, held: 0 };

export class Now {
  readonly #from: NowSources;
  readonly #started: number;
  #counts = new Map<string, ToolCounts>();
  #countedUntil = -Infinity;

  constructor(from: NowSources) {
    this.#from = from;
    this.#started = from.context.clock.now();
  }

  async view(viewer: Viewer, request: HttpRequest): Promise<NowView> {
    const { context, name, clients, questions } = this.#from;
    this.#countSoon();
    return {
      viewer: toViewerView(viewer),
      gateway: {
        name,
        version: version(),
        pid: maySee(viewer, '') ? process.pid : null,
        started: this.#started,
        isStopping: context.gateway.isStopping,
      },
      servers: context.gateway.members.map((member) => this.#toRow(member, viewer)),
      clients: clients.list(viewer),
      questions: await questions.list(viewer, request),
    };
  }

  #toRow({ name, target }: Member, viewer: Viewer): ServerRow {
    const counts = this.#counts.get(name) ?? UNCOUNTED;
    if (!isServerTarget(target)) {
      const { info } = target;
      const inside = {
        state: 'ready',
        revision: null,
        transport: 'in-process',
        connections: 0,
        failure: null,
      } as const;
      return { name, title: visible(info.name), version: visible(info.version), ...inside, findings: [], ...counts };
    }
    const { state, server, transport, failure, findings, connections } = target.status;
    const isOperator = viewer.user === undefined;
    return {
      name,
      state,
      title: server ? visible(secrets.mask(server.info.name)) : null,
      version: server ? visible(secrets.mask(server.info.version)) : null,
      revision: server?.revision ?? null,
      transport: transport ?? null,
      connections,
      failure: state === 'ready' || failure === undefined || !isOperator ? null : printable(secrets.mask(failure)),
      findings: isOperator ? findings.map((one) => visible(secrets.mask(one))) : [],
      ...counts,
    };
  }

  /** Nobody waits for it: the next frame has the numbers. */
  #countSoon(): void {
    const { clock, gateway } = this.#from.context;
    if (clock.now() < this.#countedUntil) return;
    this.#countedUntil = clock.now() + COUNTED_MS;
    const source = {
      servers: [...gateway.members],
      shownTools: ((listed, client) => gateway.shownTools(listed, client)) satisfies GatewayView['shownTools'],
    };
    readStatus(source, '').then(
      ({ servers }) => (this.#counts = new Map(servers.map((one) => [one.name, toCounts(one)]))),
      () => {}, // they stay as they were
    );
  }
}

function toCounts({ tools, held = 0 }: ServerStatus): ToolCounts {
  return { tools, held };
}
