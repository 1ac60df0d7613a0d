// The servers behind a gateway, while they come and go.
import type { OpenPages, PagesHost } from '../kernel/target.ts';
import type { Checkpoint } from './features/feature.ts';
import type { Member } from './router/member.ts';
import { toConfigured } from './server-entry.ts';
import type { ServerEntry } from './server-entry.ts';
import { isServerTarget } from './servers/target-options.ts';
import type { ServerTarget } from './servers/target-options.ts';

type Entries = Readonly<Record<string, ServerEntry>>;
interface MembersOptions {
  open(name: string, entry: ServerEntry): Member;
  /** Whether this setting can change while the server stays open. */
  isLiveSetting(name: string): boolean;
}

export class Members {
  readonly #options: MembersOptions;
  #entries: Entries = {};
  #list: readonly Member[] = [];
  /** Replaced servers that still finish calls. */
  readonly #retiring = new Set<ServerTarget>();

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get list(): readonly Member[] {
    return this.#list;
  }

  /**
   * Opens new servers and those whose entry opens another one, or all of them again. The former ones still get requests, until `retire`
   * is called with what this returns. If one of them cannot be opened, it throws, and nothing changes.
   */
  set(entries: Entries, { again = false } = {}): readonly Member[] {
    const previous = this.#list;
    const known = new Map(previous.map((member) => [member.name, member]));
    const list: Member[] = [];
    try {
      for (const [name, entry] of Object.entries(entries)) {
        const member = again ? undefined : known.get(name);
        list.push((member && this.#kept(member, entry)) ?? this.#options.open(name, entry));
      }
    } catch (thrown) {
      this.retire(without(list, previous));
      throw thrown;
    }
    this.#list = list;
    this.#entries = { ...entries }; // the caller may change its own
    return without(previous, list);
  }

  /** The member under its new settings; undefined if it has to be opened again. */
  #kept(member: Member, entry: ServerEntry): Member | undefined {
    const before = this.#entries[member.name]!;
    if (before === entry) return member;
    const [former, next] = [toConfigured(before), toConfigured(entry)] as unknown as readonly Record<string, unknown>[];
    const names = new Set([...Object.keys(former!), ...Object.keys(next!)]);
    for (const name of names) if (former![name] !== next![name] && !this.#options.isLiveSetting(name)) return undefined;
    const { server: _, ...settings } = toConfigured(entry);
    return { ...member, settings };
  }

  checkpoint(): Checkpoint {
    const [list, entries] = [this.#list, this.#entries];
    return {
      undo: () => {
        this.retire(without(this.#list, list));
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

/** Those whose server is not among the others. */
function without(members: readonly Member[], others: readonly Member[]): Member[] {
  return members.filter(({ target }) => others.every((other) => other.target !== target));
}
