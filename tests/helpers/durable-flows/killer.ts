// Kills this process where it is told to. Several plays go on in it at once: each is held at the first boundary at which it was not killed
// yet, and does nothing more; when all are held, or have had the time for it, the process is killed. So one death is one of each of them.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** At so many-th boundary from now on, or as the hunt says; never, where neither is said. */
export interface Death {
  at?: number;
  hunt?: Hunt;
}

export interface Hunt {
  /** The plays of players, by their names. Plays of the same name share what was hit. */
  plays: Record<string, string>;
  /** How many are still played. */
  playing: number;
  /** Where the process is killed; default: at each boundary, once. */
  only?: Record<string, string[]>;
}

/** The boundaries at which one process died, by play. */
export type Hits = Record<string, string[]>;

/** A play may have to wait for the lease of a process that has died, or for a machine that is busy. */
const PATIENCE_MS = 5000;

export class Killer {
  /** The boundaries that were passed since it was armed, by play. */
  passed: Hits = {};
  /** What the header of a session has instead of a name. */
  ownerOf: (name: string) => string = (name) => name;
  readonly #file: string;
  readonly #hit = new Map<string, Set<string>>();
  #death: Death;
  #count = 0;
  #held: Hits = {};

  constructor(file: string, death: Death) {
    this.#file = file;
    this.#death = death;
    for (const hits of readHits(file)) {
      for (const [play, names] of Object.entries(hits)) for (const name of names) this.#hitsOf(play).add(name);
    }
  }

  arm(death: Death): void {
    this.#death = death;
    this.#count = 0;
    this.passed = {};
  }

  /** Some plays are over, and so many are not. */
  goOn(playing: number): void {
    if (this.#death.hunt) this.#death.hunt.playing = playing;
    this.#killIfAllAreHeld();
  }

  isHeld(whose: string): boolean {
    return this.#playOf(whose) in this.#held;
  }

  /** Never settles for who is held. */
  async pass(whose: string | undefined, names: string[]): Promise<void> {
    this.#count++;
    if (this.#count === this.#death.at) this.#kill({ '': names });
    const { hunt } = this.#death;
    const play = this.#playOf(whose ?? '');
    if (!hunt || play === '') return;
    if (play in this.#held) await new Promise(() => {});
    this.passed[play] = [...new Set([...(this.passed[play] ?? []), ...names])];
    const only = hunt.only?.[play];
    const fresh = names.filter((name) => !this.#hitsOf(play).has(name) && (!hunt.only || only?.includes(name)));
    if (fresh.length === 0) return;
    if (Object.keys(this.#held).length === 0) setTimeout(() => this.#kill(this.#held), PATIENCE_MS);
    this.#held[play] = fresh;
    this.#killIfAllAreHeld();
    await new Promise(() => {});
  }

  #playOf(whose: string): string {
    const { plays = {} } = this.#death.hunt ?? {};
    const name = Object.keys(plays).find((one) => one === whose || this.ownerOf(one) === whose);
    return name === undefined ? '' : plays[name]!;
  }

  #hitsOf(play: string): Set<string> {
    const hits = this.#hit.get(play) ?? new Set();
    this.#hit.set(play, hits);
    return hits;
  }

  #killIfAllAreHeld(): void {
    const held = Object.keys(this.#held).length;
    if (held > 0 && held >= (this.#death.hunt?.playing ?? Infinity)) this.#kill(this.#held);
  }

  #kill(hits: Hits): never {
    appendFileSync(this.#file, `${JSON.stringify(hits)}\n`);
    process.kill(process.pid, 'SIGKILL');
    for (;;); // the signal is on its way; nothing may happen until it is there
  }
}

export function readHits(file: string): Hits[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Hits);
}
