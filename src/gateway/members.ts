// The servers behind a gateway, while they come and go.
import type { OpenPages, PagesHost } from '../kernel/target.ts';
import type { Checkpoint } from './features/feature.ts';
import type { Member } from './router/member.ts';
import type { ServerEntry } from './server-entry.ts';
import { isServerTarget } from './servers/target-options.ts';
import type { ServerTarget } from './servers/target-options.ts';

type Entries = Readonly<Record<string, ServerEntry>>;
type OpenMember = (name: string, entry: ServerEntry) => Member;

export class Members {
  readonly #open: OpenMember;
  #entries: Entries = {};
  #list: readonly Member[] = [];
  /** Replaced servers that still finish calls. */
  readonly #retiring = new Set<ServerTarget>();

  constructor(open: OpenMember) {
    this.#open = open;
  }

  get list(): readonly Member[] {
    return this.#list;
  }

  /**
   * Opens new servers and those whose entry is another object, or all of them again. The former ones still get requests, until `retire`
   * is called with what this returns. If one of them cannot be opened, it throws, and nothing changes.
   */
  set(entries: Entries, { again = false } = {}): readonly Member[] {
    const previous = this.#list;
    const known = new Map(previous.map((member) => [member.name, member]));
    const list: Member[] = [];
    try {
      for (const [name, entry] of Object.entries(entries)) {
        const member = known.get(name);
        list.push(member && this.#entries[name] === entry && !again ? member : this.#open(name, entry));
      }
    } catch (thrown) {
      this.retire(list.filter((member) => !previous.includes(member)));
      throw thrown;
    }
    this.#list = list;
    this.#entries = { ...entries }; // the caller may change its own
    return previous.filter((member) => !this.#list.includes(member));
  }

  checkpoint(): Checkpoint {
    const [list, entries] = [this.#list, this.#entries];
    return {
      undo: () => {
        this.retire(this.#list.filter((member) => !list.includes(member)));
        [this.#list, this.#entries] = [list, entries];
      },
    };
  }

  /** Requests that were already routed to these servers may still arrive. */
  retire(gone: readonly Member[]): void {
    for (const { target } of gone) {
      if (!isServerTarget(target)) continue;
      this.#retiring.add(target);
      void target.retire().then(() => this.#retiring.delete(target));
    }
  }

  /** The entries from which the servers were opened. */
  get entries(): Entries {
    return this.#entries;
  }

  /** `gone`: also those that finish their calls. */
  tellRootsChanged(gone: readonly Member[]): void {
    for (const { target } of [...gone, ...this.#list]) if (isServerTarget(target)) target.tellRootsChanged();
  }

  /** The pages of servers in this process, which learn where they are served. */
  openPages(host: PagesHost): OpenPages['pages'] {
    const open = this.#list.flatMap(({ target }) => target.open ?? []);
    for (const one of open) one.servedAt(host);
    return Object.assign({}, ...open.map(({ pages }) => pages)) as OpenPages['pages'];
  }

  async close(): Promise<void> {
    const targets = [...this.#list.map(({ target }) => target), ...this.#retiring];
    await Promise.all(targets.map(async (target) => isServerTarget(target) && target.close()));
  }
}
