// Watches a session while this process holds it and it also waits: for timeouts, which no other process handles for a held session, and for
// entries that other processes append for this one.
import { earlyEndOf, isEnded, nextDeadline, nextNoticeAt } from '../../header.ts';
import type { Header } from '../../journal.ts';
import type { Commits } from '../turn/commits.ts';
import type { TurnInput } from '../turn/turn-input.ts';

const LOOK_MS = 1000;

export class HolderWatch {
  readonly #input: TurnInput;
  readonly #commits: Commits;
  readonly #onLeft: () => void;
  #offDue = (): void => {};
  #offLook = (): void => {};
  #isStopped = false;

  constructor(input: TurnInput, commits: Commits, onLeft: () => void) {
    this.#input = input;
    this.#commits = commits;
    this.#onLeft = onLeft;
  }

  /** Call after each write. */
  set(header: Header): void {
    this.#offDue();
    this.#offLook();
    if (this.#isStopped || !header.busy) return;
    const { clock, store } = this.#input.context;
    const at = Math.min(nextDeadline(header), nextNoticeAt(header));
    if (at < Infinity) {
      this.#offDue = clock.after(Math.max(at - clock.now(), 0), () => this.#input.host.onDue(header.id));
    }
    if (store.durable) this.#lookLater(header.id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#offDue();
    this.#offLook();
  }

  #lookLater(id: string): void {
    if (this.#isStopped) return;
    this.#offLook = this.#input.context.clock.after(LOOK_MS, () => void this.#look(id));
  }

  async #look(id: string): Promise<void> {
    // An unavailable store is read again later.
    const found = await this.#input.context.store.load(id).catch(() => undefined);
    const { left } = this.#commits.header;
    if (found && !isEnded(found.header) && (found.header.left !== left || earlyEndOf(found.header))) this.#onLeft();
    this.#lookLater(id);
  }
}
