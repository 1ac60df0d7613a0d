// The clients that are there: those that watch for changes, which every client with a session or a listen stream does.
import type { ClientView } from '../../../kernel/exchange.ts';
import { loggedPrincipal } from '../../../kernel/base/anonymous.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import { visible } from '../../../kernel/base/visible.ts';
import { TargetLayer } from '../../../kernel/target.ts';
import type { Change, Layer, Target, Watcher } from '../../../kernel/target.ts';
import { maySee } from './viewers.ts';
import type { Viewer } from './viewers.ts';
import type { ClientRow } from './views.ts';

interface Presence {
  readonly id: string;
  readonly client: ClientView;
  readonly since: number;
}

/** More are not shown; the gateway limits sessions and listen streams itself. */
const MAX_SHOWN = 500;

export class ConnectedClients {
  readonly #clock: Clock;
  readonly #present = new Set<Presence>();
  #count = 0;
  readonly layer: Layer = (next) => new PresenceLayer(next, (watcher) => this.#enter(watcher));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest first. */
  list(viewer: Viewer): ClientRow[] {
    const theirs = [...this.#present].filter(({ client }) => maySee(viewer, client.principal));
    return theirs.toReversed().slice(0, MAX_SHOWN).map(toRow);
  }

  /** The newest one of this principal. */
  find(principal: string): ClientView | undefined {
    return [...this.#present].findLast(({ client }) => client.principal === principal)?.client;
  }

  /** Those that are identified, each once. */
  get principals(): string[] {
    const known = [...this.#present].filter(({ client }) => client.connection?.identity !== undefined);
    return [...new Set(known.map(({ client }) => client.principal))];
  }

  #enter({ client }: Watcher): () => void {
    const presence = { id: String(++this.#count), client, since: this.#clock.now() };
    this.#present.add(presence);
    return () => void this.#present.delete(presence);
  }
}

class PresenceLayer extends TargetLayer {
  readonly #enter: (watcher: Watcher) => () => void;

  constructor(target: Target, enter: (watcher: Watcher) => () => void) {
    super(target);
    this.#enter = enter;
  }

  override watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    const unwatch = this.target.watch(listener, watcher);
    const leave = watcher && this.#enter(watcher);
    return () => {
      unwatch();
      leave?.();
    };
  }
}

function toRow({ id, client, since }: Presence): ClientRow {
  const { info, revision, connection, principal } = client;
  return {
    id,
    name: visible(info.title ?? info.name),
    version: typeof info.version === 'string' ? visible(info.version) : null,
    revision,
    transport: connection?.transport ?? null,
    who: visible(loggedPrincipal(principal)),
    since,
  };
}
