// What a process has to notice while it is at work in a session that also waits: that a question or a wait is over, since nobody else looks after
// a session that somebody holds; and that another process has written something down for it.
import { earlyEndOf } from '../../journal.ts';
import type { Header } from '../../journal.ts';
import { isEnded } from '../../store/store.ts';
import type { Commits } from '../turn/commits.ts';
import type { TurnInput } from '../turn/turn-input.ts';
import { nextNoticeAt } from './people.ts';
import { nextDeadline } from './waits.ts';

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

  /** As it is written now. */
  set(header: Header): void {
    this.#offDue();
    this.#offLook();
    if (this.#isStopped || !header.busy) return;
    const { clock, store } = this.#input.setup;
    const at = Math.min(nextDeadline(header), nextNoticeAt(header));
    if (at < Infinity) {
      this.#offDue = clock.after(Math.max(at - clock.now(), 0), () => this.#input.onDue?.(header.id));
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
    this.#offLook = this.#input.setup.clock.after(LOOK_MS, () => void this.#look(id));
  }

  async #look(id: string): Promise<void> {
    // A store that is away is looked at again; whatever is written then is not lost.
    const found = await this.#input.setup.store.load(id).catch(() => undefined);
    const { left } = this.#commits.header;
    if (found && !isEnded(found.header) && (found.header.left !== left || earlyEndOf(found.header))) this.#onLeft();
    this.#lookLater(id);
  }
}
