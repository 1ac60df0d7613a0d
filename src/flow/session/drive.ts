// One session, driven from where its journal ends to where it next has to wait: for an answer, or for ever.
// 1. What the client is told was written first. An answer and the question that follows it are one commit; where an effect lies in
//    between, the answer and the intent are one, and its result and the question the next.
// 2. Nothing is written over what somebody else wrote meanwhile: then the whole turn is given up, and tried anew from the store.
// 3. Once an effect has begun, this process holds a lease, and goes on whoever else looks at the session.
// 4. A session that ends before its time says so in the store first. Then effects in flight come to their end, the body cleans up, and
//    what was done is taken back; only after that the session is over. A process that dies meanwhile leaves the rest to the next one.
import { Run } from '../engine/run.ts';
import { isAtWork } from '../engine/rest.ts';
import type { Rest } from '../engine/rest.ts';
import type { Trespass } from '../engine/tracer.ts';
import { toMs } from '../authoring/span.ts';
import { extend, fold } from '../fold.ts';
import type { Folded } from '../fold.ts';
import { asEnded, endingOf, toWhy } from '../journal.ts';
import type { Ending, Entry, Header } from '../journal.ts';
import { isMismatch, toBroken } from '../engine/mismatch.ts';
import { isEnded } from '../store/store.ts';
import type { Change } from '../store/store.ts';
import { Commits, isLimit } from './commits.ts';
import { LazyAbort, orAborted, orLate } from './or-aborted.ts';
import type { DriveInput } from './drive-input.ts';
import { Frame } from './frame.ts';
import { toKeptOutcome, toLastAnswers } from './outcome.ts';
import { isUnknown, runStep, toIdempotencyKey } from './run-step.ts';
import { toParked, unparked } from './parking.ts';
import { newProgressOf, toAsked, toCompleted, toFailed, toProcessing, toVerdicts } from './patches.ts';
import type { Draft } from './patches.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Step } from '../../protocol/prompt.ts';
import type { Turn } from './turn.ts';
import { effectsOf } from './undoing.ts';
import { unwind } from './unwinding.ts';

/** How long somebody who ends a session waits until its effects are taken back. It goes on after that. */
export const ENDING_GRACE_MS = 2000;

interface Terms extends Pick<Change, 'dueAt' | 'tombstoneMs'> {
  /** Keeps others from going on with it. */
  hold?: boolean;
}

export class Drive {
  readonly input: DriveInput;
  readonly run: Run;
  readonly commits: Commits;
  /** Effects that this process has begun. */
  readonly began = new Set<string>();
  readonly #folded: Folded;
  /** How many of the entries that are written the run has from the start. */
  readonly #known: number;
  /** What steps are given. */
  readonly #signal = new LazyAbort();
  /** Leaves the session alone. */
  readonly #stop = new LazyAbort();
  /** Since when it is parked, until it has gone on. */
  #parked: Header['parked'];
  /** To be written as soon as it has gone on. */
  #refresh: Partial<Header> | undefined;
  #unwritten: Entry[] = [];
  #ending: Ending | undefined;
  /** What is told beside the end. */
  #endTurn: Omit<Turn, 'header'> = { questions: [] };

  constructor(given: DriveInput) {
    const { header, patch } = unparked(given);
    const input = header === given.header ? given : { ...given, header };
    this.input = input;
    this.#refresh = patch;
    this.#parked = given.header.parked;
    this.commits = new Commits(input.setup, input.header, input.stored);
    this.run = this.#toRun(input);
    this.#folded = this.run.input.folded;
    this.#known = input.prefix?.length ?? 0;
    const ending = input.ending ?? endingOf(input.header);
    if (ending) this.#begin(ending);
  }

  /** Undefined if somebody else was faster; then nothing was written. */
  async turn(): Promise<Turn | undefined> {
    try {
      return await this.#settle(await this.run.next());
    } catch (error) {
      if (isMismatch(error)) await this.#setAside(error);
      // Nobody is there to be refused where it goes on by itself.
      const byItself = this.input.stored && !this.input.incoming && !this.input.prefix;
      if (!byItself || !isLimit(error)) throw error;
      this.#fail(error);
      return this.#settle(await this.run.next());
    }
  }

  #toRun({ setup, flow, header, prefix, entries, frame, next, incoming = [] }: DriveInput): Run {
    const now = {
      ...{ incoming, next, now: setup.clock.now(), checks: setup.checks, onStall: () => this.#stalled() },
      onTrespass: (trespass: Trespass) => setup.log.warn({ tool: flow.name, ...trespass }, 'flow.unjournaled'),
      onFailing: () => this.#signal.abort(),
      unasked: header.unasked,
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
    if (isAtWork(rest)) return this.#startAt(rest);
    const draft = await this.#toDraft(rest);
    if (draft) return this.#commit(draft);
    if (rest.kind === 'asks') return this.#settle(await this.run.next()); // it has been told that it is over
    return effectsOf(this.run, this.began).length === 0
      ? this.#commit(this.#toEnded())
      : this.#toBackground(undefined, Promise.resolve(rest));
  }

  async #startAt(rest: Rest): Promise<Turn | undefined> {
    const steps = rest.kind === 'steps' ? rest.steps : [];
    const isReading = steps.every(({ spec }) => spec.options.effect === undefined && spec.sleepMs === undefined);
    if (!isReading || this.#folded.intents.size > 0 || this.#ending) return this.#toBackground(rest);
    this.#start(rest);
    const next = this.run.next();
    const quick = await orLate(next, this.input.setup.clock, this.input.setup.graceMs);
    return quick ? this.#settle(quick) : this.#toBackground(undefined, next);
  }

  async #commit(draft: Draft): Promise<Turn | undefined> {
    const { tombstoneMs } = this.input.setup.limits;
    this.#keepOutcome(draft);
    const header = await this.#write(draft.patch, draft.add, { dueAt: draft.dueAt, tombstoneMs });
    if (header?.state === 'waiting_user') this.#park(header);
    return header && { header, ...draft.turn };
  }

  /** Whoever does not hear now how it ended can ask later. */
  #keepOutcome({ patch, turn, add }: Draft): void {
    if (patch.state === undefined || !isEnded({ state: patch.state })) return;
    this.#unwritten.push(...this.#prefix(), ...this.run.take());
    const here = toLastAnswers([...this.commits.added, ...this.#unwritten, ...add]);
    const last = here ?? toLastAnswers(this.input.entries) ?? [];
    patch.outcome = toKeptOutcome(this.input.setup, this.input.header, turn, last);
  }

  /** What could not be written is written with the next. */
  async #write(patch: Partial<Header>, add: Entry[], terms: Terms = {}): Promise<Header | undefined> {
    this.#unwritten.push(...this.#prefix(), ...this.run.take());
    const entries = [...this.#unwritten, ...add];
    const { hold, ...rest } = terms;
    const whole = this.#refresh ? { ...this.#refresh, ...patch } : patch;
    const { header } = await (hold ? this.commits.hold(whole, entries) : this.commits.write(whole, entries, rest));
    if (!header) return undefined;
    this.#unwritten = [];
    this.#refresh = undefined;
    this.#parked = undefined;
    return header;
  }

  /** It waits for a version that can go on with it. What effects have given is kept; an answer that led here is not. */
  async #setAside(error: GatewayError): Promise<void> {
    const { setup, flow, stored } = this.input;
    const { id: sessionId } = this.input.header;
    setup.log.error({ tool: flow.name, sessionId, error }, 'flow.parked');
    if (!stored && !this.commits.holds) return;
    if (!this.#parked) setup.counts.parked(this.input.header);
    const { patch, dueAt } = toParked(this.input, { ...this.commits.header, parked: this.#parked }, error);
    this.#refresh = undefined;
    if (this.commits.holds) await this.#write(patch, [], { dueAt });
    else await this.commits.write(patch, [], { dueAt });
  }

  /** Its next answer may find it waiting. */
  #park(header: Header): void {
    const { frames } = this.input.setup;
    if (!frames.any || !this.run.canWait || this.commits.mixed) return;
    extend(this.#folded, this.commits.added.slice(this.#known));
    // What was told is the body's, and not told again.
    this.#folded.told = [];
    Object.assign(this.run.input, { incoming: [], onStall: undefined, onTrespass: undefined, onFailing: undefined });
    frames.keep(new Frame(header, this.run));
  }

  /** Undefined where the session ends before its time. */
  async #toDraft(rest: Rest): Promise<Draft | undefined> {
    if (this.#ending) return undefined;
    const draft = await this.#drafted(rest);
    if (draft.patch.state !== 'error') return draft;
    this.#begin({ kind: 'fail', reason: draft.patch.reason, failure: draft.turn.failure });
    return undefined;
  }

  #drafted(rest: Rest): Draft | Promise<Draft> {
    if (rest.kind === 'asks') return toAsked(this, rest.asks);
    if (rest.kind === 'ended') return toCompleted(this, rest.value);
    const { error } = rest as { error: unknown };
    const { flow, header, stored } = this.input;
    const isOther = stored && header.version !== flow.version;
    const broken = isOther && toBroken(flow, error, this.run.telling.isReplaying);
    if (broken) throw broken;
    return toFailed(this, error);
  }

  #fail(error: unknown): void {
    const { patch, turn } = toFailed(this, error);
    this.#begin({ kind: 'fail', reason: patch.reason, failure: turn.failure });
  }

  #begin(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    const { failure } = ending;
    this.#endTurn = { questions: [], ...(failure && { failure }), ...toVerdicts(this.input.incoming ?? []) };
    this.#signal.abort();
    this.run.end(toWhy(ending));
  }

  /** The end, after which nothing is left. */
  #toEnded(notUndone?: string[]): Draft {
    const { kind, reason } = this.#ending!;
    const state = kind === 'cancel' ? ('cancelled' as const) : ('error' as const);
    const lastActivityAt = this.input.setup.clock.now();
    const patch = { state, reason, current: [], pending: undefined, lastActivityAt, notUndone };
    return { patch, add: [], turn: this.#endTurn };
  }

  /** That it ends, before anything is done about it. */
  #toEnding(): Draft {
    const isKnown = endingOf(this.commits.header) !== undefined;
    const patch = { state: 'processing' as const, current: [], pending: this.#ending };
    const ts = this.input.setup.clock.now();
    const add: Entry[] = isKnown ? [] : [{ t: 'end', why: toWhy(this.#ending!), ts }];
    return { patch, add, turn: { questions: [], ...toVerdicts(this.input.incoming ?? []) } };
  }

  /** The answer is acknowledged, and the steps go on by themselves. */
  async #toBackground(rest: Rest | undefined, running?: Promise<Rest>): Promise<Turn | undefined> {
    if (rest && this.#isUnknown(rest)) return this.#settle(await this.run.next());
    const draft = this.#ending ? this.#toEnding() : toProcessing(this);
    const header = await this.#write(draft.patch, [...draft.add, ...this.#intents(rest)], { hold: true });
    if (!header) return undefined;
    if (rest) this.#start(rest);
    return this.#live(header, draft, running ?? this.run.next());
  }

  async #live(header: Header, draft: Draft, running: Promise<Rest>): Promise<Turn> {
    const { id } = header;
    const { ending, incoming } = this.input;
    const isAsked = ending?.kind === 'cancel' || incoming !== undefined;
    let early = (_: Turn): void => {};
    const told = new Promise<Turn>((resolve) => (early = resolve));
    const done = this.#goOn(running, this.#limitFirst(), early);
    const next = Promise.race([told, done]);
    this.input.onLive?.({ id, next, done, end: (ending) => this.#endNow(ending), abort: () => this.#leave() });
    if (!this.#ending || !isAsked) return { header: asEnded(header), ...draft.turn, next };
    const quick = await orLate(next, this.input.setup.clock, ENDING_GRACE_MS);
    // A failure is told when it is over; who cancels need not wait.
    return quick ?? { header: this.#ending.kind === 'cancel' ? asEnded(header) : header, ...draft.turn, next };
  }

  /** A tool that does not come to its first question fails; later ones have their steps' own limits. */
  #limitFirst(): () => void {
    const { setup, flow, stored } = this.input;
    const { firstQuestion } = flow.options;
    if (stored) return () => {};
    const ms = firstQuestion === undefined ? setup.limits.firstQuestionMs : toMs(firstQuestion, 'firstQuestion');
    return setup.clock.after(ms, () => {
      const { patch, turn } = toFailed(this, new GatewayError('FLOW_TIMEOUT', { what: flow.name, ms }));
      void this.#endNow({ kind: 'fail', reason: patch.reason, failure: turn.failure });
    });
  }

  /** Somebody wants it to end while it is at work here. That is written down at once; the rest follows in `#goOn`. */
  async #endNow(ending: Ending): Promise<void> {
    if (this.#ending) return;
    this.#begin(ending);
    try {
      const { patch, add } = this.#toEnding();
      await this.commits.write(patch, add);
    } catch (error) {
      this.input.setup.log.error({ error, tool: this.input.flow.name }, 'flow.broken');
      this.#leave();
    }
  }

  #leave(): void {
    this.#signal.abort();
    this.#stop.abort();
  }

  async #goOn(running: Promise<Rest>, onTime: () => void, onTold: (turn: Turn) => void): Promise<Turn> {
    const { log } = this.input.setup;
    try {
      for (let coming = running; ; coming = this.run.next()) {
        try {
          const rest = await orAborted(coming, this.#stop.signal);
          const turn = rest ? await this.#goOnFrom(rest, onTold) : await this.commits.current();
          if (turn) return turn;
        } catch (error) {
          if (!isLimit(error) || this.#ending) throw error;
          // What was done has no room in the journal: done again it would have no more.
          this.#fail(error);
        }
      }
    } catch (error) {
      if (isMismatch(error)) await this.#setAside(error);
      else log.error({ error, tool: this.input.flow.name }, 'flow.broken');
      return this.commits.current();
    } finally {
      onTime();
      await this.commits.letGo();
    }
  }

  /** Undefined while there is more to come. */
  async #goOnFrom(rest: Rest, onTold: (turn: Turn) => void): Promise<Turn | undefined> {
    if (isAtWork(rest)) {
      if (this.#isUnknown(rest)) return undefined;
      const { patch = {}, add = [] } = this.#ending ? this.#toEnding() : {};
      const header = await this.#write(patch, [...add, ...this.#intents(rest)]);
      if (!header) return this.#overtaken();
      if (isEnded(header)) return this.commits.current();
      this.#start(rest);
      return undefined;
    }
    const draft = await this.#toDraft(rest);
    if (draft) return (await this.#commit(draft)) ?? this.#overtaken();
    if (rest.kind === 'asks') return undefined;
    return this.#unwind(onTold);
  }

  /** Undefined if somebody has ended it meanwhile: then that is brought about here. */
  #overtaken(): Promise<Turn> | undefined {
    if (!this.commits.ending) return this.commits.current();
    this.#begin(this.commits.ending);
    return undefined;
  }

  async #unwind(onTold: (turn: Turn) => void): Promise<Turn> {
    const { patch, add } = this.#toEnding();
    if (!(await this.#write(patch, add))) return this.commits.current();
    return unwind(this, this.#ending!, {
      effects: effectsOf(this.run, this.began),
      signal: this.#stop.signal,
      onTold: (header) => onTold({ header: asEnded(header), ...this.#endTurn }),
      end: async (notUndone) => (await this.#commit(this.#toEnded(notUndone))) ?? this.commits.current(),
    });
  }

  #start(rest: Rest): void {
    if (rest.kind !== 'steps') return;
    const { setup, header } = this.input;
    const said = newProgressOf(this.run);
    if (said) this.input.onProgress?.(header, said);
    for (const want of rest.steps) {
      const { spec } = want;
      // Once it is known that the session ends, nothing begins but what cleans up.
      if (this.#ending && !spec.options.cleanup) continue;
      this.run.stepStarted(want);
      this.began.add(spec.key);
      const signal = () => (spec.options.cleanup ? this.#stop : this.#signal).signal;
      const { id: sessionId, principal, deadline } = header;
      const onProgress = (progress: Step) => this.input.onProgress?.(header, progress);
      const step = { setup, sessionId, principal, deadline, spec, folded: this.#folded, signal, onProgress };
      void runStep(step).then((entry) => this.run.stepFinished(want, entry));
    }
  }

  /** Written before the effect begins, or the sleep. */
  #intents(rest: Rest | undefined): Entry[] {
    if (rest?.kind !== 'steps') return [];
    const { setup, header } = this.input;
    const begin = rest.steps.filter(({ spec }) => spec.options.effect !== undefined || spec.sleepMs !== undefined);
    return begin.map(({ spec: { key: k, options, sleepMs } }) => ({
      ...{ t: 'int', k, idem: toIdempotencyKey(header.id, k, this.#folded) },
      ...(options.undo && !options.cleanup && { undo: true }),
      ...(sleepMs !== undefined && { sleep: true }),
      ts: setup.clock.now(),
    }));
  }

  /** An effect among them may have happened unseen, and must not happen again: the session fails. */
  #isUnknown(rest: Rest): boolean {
    const unknown = rest.kind === 'steps' && rest.steps.find(({ spec }) => isUnknown(spec, this.#folded));
    if (!unknown || this.#ending) return false;
    this.#fail(new GatewayError('FLOW_EFFECT_UNKNOWN', { step: unknown.spec.key }));
    return true;
  }

  #prefix(): Entry[] {
    const { prefix = [] } = this.input;
    this.input.prefix = undefined;
    return prefix;
  }

  /** The body waits for something of its own. It may come; if it does not, the session must not hang for ever. */
  #stalled(): void {
    const { clock, limits } = this.input.setup;
    clock.after(limits.stepMs, () => this.run.giveUp(limits.stepMs));
  }
}
