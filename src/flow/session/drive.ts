// One session, driven from where its journal ends to where it next has to wait: for an answer, or for ever.
// 1. What the client is told was written first. An answer and the question that follows it are one commit; where an effect lies in
//    between, the answer and the intent are one, and its result and the question the next.
// 2. Nothing is written over what somebody else wrote meanwhile: then the whole turn is given up, and tried anew from the store.
// 3. Once an effect has begun, this process holds a lease, and goes on whoever else looks at the session.
import type { Spec } from '../engine/spec.ts';
import type { Incoming } from '../engine/fit.ts';
import { Run } from '../engine/run.ts';
import type { Rest } from '../engine/rest.ts';
import type { Trespass } from '../engine/tracer.ts';
import { toMs } from '../authoring/span.ts';
import type { AnyFlow } from '../define.ts';
import { extend, fold } from '../fold.ts';
import type { Folded } from '../fold.ts';
import type { Entry, Header } from '../journal.ts';
import { isEnded } from '../store/store.ts';
import { Commits, isLimit } from './commits.ts';
import { orAborted } from './or-aborted.ts';
import { Frame } from './frame.ts';
import { isUnknown, runStep, toIdempotencyKey } from './run-step.ts';
import type { Setup } from './setup.ts';
import { toAsked, toCompleted, toFailed, toProcessing } from './patches.ts';
import type { Draft } from './patches.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Turn } from './turn.ts';

export interface DriveInput {
  setup: Setup;
  flow: AnyFlow;
  header: Header;
  entries: Entry[];
  /** It is in the store already. */
  stored: boolean;
  /** Questions that can be put ahead. */
  next?: ReadonlyMap<string, Spec[]> | undefined;
  /** Entries to be written with the first commit, that the run already knows of. */
  prefix?: Entry[] | undefined;
  incoming?: Incoming[] | undefined;
  /** Its body, where the entries end. */
  frame?: Frame | undefined;
  /** Follows it on its way: for the turn it leads to, and to call it off. */
  onLive?: ((live: Live) => void) | undefined;
}

/** A session in which steps run in this process. */
export interface Live {
  readonly id: string;
  readonly next: Promise<Turn>;
  abort(): void;
}

export class Drive {
  readonly input: DriveInput;
  readonly run: Run;
  readonly #folded: Folded;
  readonly #commits: Commits;
  /** How many of the entries that are written the run has from the start. */
  readonly #known: number;
  #controller: AbortController | undefined;
  #late: GatewayError | undefined;

  constructor(input: DriveInput) {
    this.input = input;
    this.#commits = new Commits(input.setup, input.header, input.stored);
    this.run = this.#toRun(input);
    this.#folded = this.run.input.folded;
    this.#known = input.prefix?.length ?? 0;
  }

  /** Undefined if somebody else was faster; then nothing was written. */
  async turn(): Promise<Turn | undefined> {
    try {
      return await this.#settle(await this.run.next());
    } catch (error) {
      // Nobody is there to be refused where it goes on by itself.
      const byItself = this.input.stored && !this.input.incoming && !this.input.prefix;
      if (byItself && isLimit(error)) return this.#overgrown(error);
      throw error;
    }
  }

  #toRun({ setup, flow, header, prefix, entries, frame, next, incoming = [] }: DriveInput): Run {
    const now = {
      ...{ incoming, next, now: setup.clock.now(), checks: setup.checks, onStall: () => this.#stalled() },
      onTrespass: (trespass: Trespass) => setup.log.warn({ tool: flow.name, ...trespass }, 'flow.unjournaled'),
    };
    const waiting = prefix ? undefined : frame?.take();
    if (!waiting) {
      const folded = fold(prefix ? [...entries, ...prefix] : entries);
      return new Run({ ...now, flow, folded, sessionId: header.id, locale: header.locale, virtual: setup.virtual });
    }
    waiting.resume(now);
    return waiting;
  }

  async #settle(rest: Rest): Promise<Turn | undefined> {
    if (rest.kind !== 'steps' && rest.kind !== 'save') return this.#finish(rest);
    const steps = rest.kind === 'steps' ? rest.steps : [];
    const isReading = steps.every(({ spec }) => spec.options.effect === undefined && spec.sleepMs === undefined);
    if (!isReading || this.#folded.intents.size > 0) return this.#toBackground(rest);
    this.#start(rest);
    const next = this.run.next();
    const quick = await Promise.race([next, this.#after(this.input.setup.graceMs)]);
    return quick ? this.#settle(quick) : this.#toBackground(undefined, next);
  }

  async #finish(rest: Rest): Promise<Turn | undefined> {
    const { setup } = this.input;
    const draft = await this.#toDraft(rest);
    const { header } = await this.#commits.write(draft.patch, [...this.#prefix(), ...this.run.take(), ...draft.add], {
      dueAt: draft.dueAt,
      tombstoneMs: setup.limits.tombstoneMs,
    });
    if (header?.state === 'waiting_user') this.#park(header);
    return header && { header, ...draft.turn };
  }

  /** Its next answer may find it waiting. */
  #park(header: Header): void {
    const { frames } = this.input.setup;
    if (!frames.any || !this.run.canWait || this.#commits.mixed) return;
    extend(this.#folded, this.#commits.added.slice(this.#known));
    // What was told is the body's, and not told again.
    this.#folded.told = [];
    Object.assign(this.run.input, { incoming: [], onStall: undefined, onTrespass: undefined });
    frames.keep(new Frame(header, this.run));
  }

  #toDraft(rest: Rest): Draft | Promise<Draft> {
    if (rest.kind === 'asks') return toAsked(this, rest.asks);
    return rest.kind === 'ended' ? toCompleted(this, rest.value) : toFailed(this, (rest as { error: unknown }).error);
  }

  /** The answer is acknowledged, and the steps go on by themselves. */
  async #toBackground(rest: Rest | undefined, running?: Promise<Rest>): Promise<Turn | undefined> {
    if (rest?.kind === 'steps') {
      const unknown = rest.steps.find(({ spec }) => isUnknown(spec, this.#folded));
      if (unknown) return this.#finish({ kind: 'failed', error: toUnknown(unknown.spec.key) });
    }
    const draft = toProcessing(this);
    const { header } = await this.#commits.hold(draft.patch, [
      ...this.#prefix(),
      ...this.run.take(),
      ...this.#intents(rest),
    ]);
    if (!header) return undefined;
    if (rest) this.#start(rest);
    const { id } = header;
    const next = this.#goOn(running ?? this.run.next(), this.#limitFirst());
    this.input.onLive?.({ id, next, abort: () => this.#aborting().abort() });
    return { header, ...draft.turn, next };
  }

  /** A tool that does not come to its first question fails; later ones have their steps' own limits. */
  #limitFirst(): () => void {
    const { setup, flow, stored } = this.input;
    const { firstQuestion } = flow.options;
    if (stored) return () => {};
    const ms = firstQuestion === undefined ? setup.limits.firstQuestionMs : toMs(firstQuestion, 'firstQuestion');
    return setup.clock.after(ms, () => {
      this.#late = new GatewayError('FLOW_TIMEOUT', { what: flow.name, ms });
      this.#aborting().abort();
    });
  }

  async #goOn(running: Promise<Rest>, onTime: () => void): Promise<Turn> {
    const { log } = this.input.setup;
    try {
      const { signal } = this.#aborting();
      for (let rest = await orAborted(running, signal); ; rest = await orAborted(this.run.next(), signal)) {
        if (rest === undefined) return await this.#calledOff();
        if (rest.kind !== 'steps' && rest.kind !== 'save')
          return (await this.#finish(rest)) ?? (await this.#commits.current());
        const unknown = rest.kind === 'steps' && rest.steps.find(({ spec }) => isUnknown(spec, this.#folded));
        if (unknown)
          return (
            (await this.#finish({ kind: 'failed', error: toUnknown(unknown.spec.key) })) ??
            (await this.#commits.current())
          );
        const { header } = await this.#commits.write({}, [...this.run.take(), ...this.#intents(rest)]);
        if (!header || isEnded(header)) return await this.#commits.current();
        this.#start(rest);
      }
    } catch (error) {
      if (isLimit(error)) return await this.#overgrown(error);
      log.error({ error, tool: this.input.flow.name }, 'flow.broken');
      return this.#commits.current();
    } finally {
      onTime();
      await this.#commits.letGo();
    }
  }

  /** What was done has no room in the journal: done again it would have no more. */
  async #overgrown(error: GatewayError): Promise<Turn> {
    return (await this.#finish({ kind: 'failed', error })) ?? this.#commits.current();
  }

  async #calledOff(): Promise<Turn> {
    const failed = this.#late && (await this.#finish({ kind: 'failed', error: this.#late }));
    return failed ?? this.#commits.current();
  }

  #start(rest: Rest): void {
    if (rest.kind !== 'steps') return;
    const { setup, header } = this.input;
    for (const want of rest.steps) {
      this.run.stepStarted(want);
      const signal = () => this.#aborting().signal;
      const { id: sessionId, principal } = header;
      const step = { setup, sessionId, principal, spec: want.spec, folded: this.#folded, signal };
      void runStep(step).then((entry) => this.run.stepFinished(want, entry));
    }
  }

  /** Written before the effect begins, or the sleep. */
  #intents(rest: Rest | undefined): Entry[] {
    if (rest?.kind !== 'steps') return [];
    const { setup, header } = this.input;
    return rest.steps
      .filter(({ spec }) => spec.options.effect !== undefined || spec.sleepMs !== undefined)
      .map(({ spec: { key } }) => ({
        ...{ t: 'int', k: key, idem: toIdempotencyKey(header.id, key, this.#folded), ts: setup.clock.now() },
      }));
  }

  #prefix(): Entry[] {
    const { prefix = [] } = this.input;
    this.input.prefix = undefined;
    return prefix;
  }

  #aborting(): AbortController {
    return (this.#controller ??= new AbortController());
  }

  #after(ms: number): Promise<undefined> {
    return new Promise((resolve) => void this.input.setup.clock.after(ms, () => resolve(undefined)));
  }

  /** The body waits for something of its own. It may come; if it does not, the session must not hang for ever. */
  #stalled(): void {
    const { clock, limits } = this.input.setup;
    clock.after(limits.stepMs, () => this.run.giveUp(limits.stepMs));
  }
}

function toUnknown(step: string): GatewayError {
  return new GatewayError('FLOW_EFFECT_UNKNOWN', { step });
}
