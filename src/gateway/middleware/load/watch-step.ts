// A step from a file that is loaded again when the file changes, or one beside it. A new version that cannot be loaded or started
// leaves the old one in place, and the log says why. Calls under way end with the version they began with, which is then closed.
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Step, StepFunction } from '../../../protocol/step.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import { closeStep, startStep } from '../lifecycle/step-lifecycle.ts';
import { loadStep } from './load-step.ts';

export interface WatchStepOptions {
  log: Log;
  /** Of the step, where its file takes some. */
  options?: JsonObject | undefined;
  /** Something new is there: lists may look different now. */
  onReload?: (() => void) | undefined;
  clock?: Clock | undefined;
}

export interface WatchedStep {
  /** Stays the same and does what the newest version does. Its gateway starts and closes it. */
  readonly step: Step;
  /** Stops following the file. */
  close(): void;
}

/** Editors write a file in several goes. */
const SETTLE_MS = 100;
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;

export async function watchStep(path: string, options: WatchStepOptions): Promise<WatchedStep> {
  const { log, onReload, clock = systemClock } = options;
  const versions = new Versions(await loadStep(path, options.options), log);
  let closed = false;
  let reloading: Promise<void> = Promise.resolve(); // one after the other
  let stop = (): void => {};
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadStep(path, options.options);
      if (closed) return;
      await versions.replace(loaded);
      log.info({ step: loaded.name, path }, 'step.reloaded');
      onReload?.();
    } catch (error) {
      log.warn({ step: versions.step.name, path, error }, 'step.kept');
    }
  };
  // The folder, not the file: editors put a new file in its place.
  const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
    if (file !== null && !SOURCE.test(file)) return;
    stop();
    stop = clock.after(SETTLE_MS, () => void (reloading = reloading.then(reload)));
  });
  watcher.on('error', (error) => log.warn({ step: versions.step.name, path, error }, 'step.unwatched'));
  const close = (): void => {
    closed = true;
    stop();
    watcher.close();
  };
  return { step: versions.step, close };
}

/** The newest version, as one step that stays. Others are closed once the calls that began with them have ended. */
class Versions {
  readonly #log: Log;
  #current: Version;
  #isStarted = false;

  constructor(first: Step, log: Log) {
    this.#log = log;
    this.#current = new Version(first, log);
  }

  /** Rejects, and changes nothing, when it cannot be started. */
  async replace(next: Step): Promise<void> {
    if (this.#isStarted) await startStep(next, this.#current.step);
    const former = this.#current;
    this.#current = new Version(next, this.#log);
    // The gateway may have closed while this one was starting.
    if (this.#isStarted) void former.retire();
    else if (former.isRetired) void this.#current.retire();
  }

  /** A chain reads which methods a step is for only once: so it is for all, and looks each time. */
  readonly step: Step = this.#following(() => this.#current);

  #following(current: () => Version): Step {
    return {
      get name() {
        return current().step.name;
      },
      get greeting() {
        return current().step.greeting;
      },
      get toolRules() {
        return current().step.toolRules;
      },
      get repeats() {
        return current().step.repeats;
      },
      start: (kept) => {
        this.#isStarted = true;
        return current().step.start?.(kept);
      },
      keep: () => current().step.keep?.(),
      close: () => {
        this.#isStarted = false;
        return current().retire();
      },
      handle: (exchange, next, lookUp, originOf) => current().handle(exchange, next, lookUp, originOf),
      onAsk: (ask, next, client) => current().step.onAsk?.(ask, next, client) ?? next(ask),
      reword: (...told) => current().step.reword?.(...told),
      toolBehind: (shown, scope) => current().step.toolBehind?.(shown, scope),
      // Only where it has one: a step that has it is taken for one that changes names of prompts.
      get promptBehind() {
        const behind: Step['promptBehind'] = (shown, scope) => current().step.promptBehind?.(shown, scope);
        return current().step.promptBehind && behind;
      },
      onChange: (change, originOf) => {
        const { onChange } = current().step;
        return onChange ? onChange(change, originOf) : change;
      },
    };
  }
}

/** One version, and the calls that it handles. */
class Version {
  readonly step: Step;
  readonly #log: Log;
  #running = 0;
  #closed: Promise<void> | undefined;
  #close: (() => void) | undefined;

  constructor(step: Step, log: Log) {
    this.step = step;
    this.#log = log;
  }

  get isRetired(): boolean {
    return this.#closed !== undefined;
  }

  handle(...[exchange, next, lookUp, originOf]: Parameters<StepFunction>): ReturnType<StepFunction> {
    const { handle, methods, close } = this.step;
    if (!handle || (methods && !methods.includes(exchange.method))) return next();
    const outcome = handle(exchange, next, lookUp, originOf);
    if (close && outcome instanceof Promise) {
      this.#running++;
      outcome.then(this.#end, this.#end);
    }
    return outcome;
  }

  /** Resolves when it is closed. */
  retire(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#close = () => void closeStep(this.step, this.#log).then(resolve);
      if (this.#running === 0) this.#close();
    });
    return this.#closed;
  }

  readonly #end = (): void => {
    if (--this.#running === 0) this.#close?.();
  };
}
