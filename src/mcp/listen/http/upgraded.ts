// The upgraded connections of an endpoint. The code of each transport is loaded with its first upgrade.
import type { ServeContext } from '../../eras/serve/serve-context.ts';
import { refuseUpgrade } from './refusals.ts';
import type { Upgrade, UpgradeAcceptor } from './upgrade.ts';

type Upgrading = Parameters<UpgradeAcceptor['upgrade']>;

export class UpgradedConnections {
  readonly #context: ServeContext;
  readonly #loading = new Map<Upgrade, Promise<UpgradeAcceptor>>();
  readonly #loaded = new Set<UpgradeAcceptor>();
  #isClosed = false;

  constructor(context: ServeContext) {
    this.#context = context;
  }

  async upgrade(to: Upgrade, ...args: Upgrading): Promise<void> {
    const acceptor = await this.#open(to);
    if (this.#isClosed) refuseUpgrade(args[1], '503 Service Unavailable');
    else acceptor.upgrade(...args);
  }

  *calls(): Iterable<object> {
    for (const acceptor of this.#loaded) yield* acceptor.calls();
  }

  sendAway(): void {
    for (const acceptor of this.#loaded) acceptor.sendAway();
  }

  close(): void {
    this.#isClosed = true;
    for (const acceptor of this.#loaded) acceptor.close();
  }

  #open(to: Upgrade): Promise<UpgradeAcceptor> {
    const known = this.#loading.get(to);
    if (known) return known;
    const opening = to.open(this.#context).then((acceptor) => {
      if (this.#isClosed) acceptor.close();
      else this.#loaded.add(acceptor);
      return acceptor;
    });
    this.#loading.set(to, opening);
    return opening;
  }
}
