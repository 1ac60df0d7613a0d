// Loads a step from a file and reloads it when the file, or one next to it, changes. If the new version cannot be loaded or
// started, the old one stays and the log says why. Calls under way finish with their version, which is then closed.
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step, StepFunction } from '../../../kernel/step.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import type { Clock } from '../../../kernel/base/clock.ts';
import type { Log } from '../../../kernel/base/log.ts';
import { seesStarts } from '../judge-starts.ts';
import { closeStep, startStep } from '../lifecycle/step-lifecycle.ts';
import { loadStep } from './load-step.ts';

interface WatchStepOptions {
  log: Log;
  /** The options of the step, if it takes any. */
  options?: JsonObject | undefined;
  /** Called after a reload: lists may have changed. */
  onReload?: (() => void) | undefined;
  /** Whether the changed file may be loaded; asked again until it may. Default: yes. */
  isStillTrusted?: (() => boolean) | undefined;
  clock?: Clock | undefined;
}

export interface WatchedStep {
  /** A stable step that delegates to the newest version. The gateway starts and closes it. */
  readonly step: Step;
  /** Stops watching the file. */
  close(): void;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 100;
const ASK_AGAIN_MS = 1000;
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;

export async function watchStep(path: string, options: WatchStepOptions): Promise<WatchedStep> {
  const { log, onReload, isStillTrusted = () => true, clock = systemClock } = options;
  const versions = new Versions(await loadStep(path, options.options), log);
  let closed = false;
  let reloading: Promise<void> = Promise.resolve(); // one reload at a time
  let stop = (): void => {};
  let isTold = false;
  const wait = (ms: number): void => {
    stop();
    stop = clock.after(ms, () => void (reloading = reloading.then(reload)));
  };
  const reload = async (): Promise<void> => {
    if (closed) return;
    try {
      if (!isStillTrusted()) {
        if (!isTold) log.warn({ step: versions.step.name, path }, 'step.untrusted');
        isTold = true;
        return wait(ASK_AGAIN_MS);
      }
      isTold = false;
      const loaded = await loadStep(path, options.options);
      if (closed) return;
      if (!isStillTrusted()) throw new Error('the file changed while it was loaded');
      await versions.replace(loaded);
      log.info({ step: loaded.name, path }, 'step.reloaded');
      onReload?.();
    } catch (error) {
      log.warn({ step: versions.step.name, path, error }, 'step.kept');
    }
  };
  // Watches the folder, because editors replace the file.
  const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
    if (file !== null && !SOURCE.test(file)) return;
    wait(SETTLE_MS);
  });
  watcher.on('error', (error) => log.warn({ step: versions.step.name, path, error }, 'step.unwatched'));
  const close = (): void => {
    closed = true;
    stop();
    watcher.close();
  };
  return { step: versions.step, close };
}

/** The newest version as one stable step. Former versions are closed when their calls have ended. */
class Versions {
  readonly #log: Log;
  #current: Version;
  #isStarted = false;

  constructor(first: Step, log: Log) {
    this.#log = log;
    this.#current = new Version(first, log);
  }

  /** Rejects and changes nothing if the step fails to start. */
  async replace(next: Step): Promise<void> {
    if (this.#isStarted) await startStep(next, { former: this.#current.step, log: this.#log });
    const former = this.#current;
    this.#current = new Version(next, this.#log);
    // The gateway may have closed while the step was starting.
    if (this.#isStarted) void former.retire();
    else if (former.isRetired) void this.#current.retire();
  }

  /** A chain reads the methods of a step only once, so this one takes all methods and checks each time. */
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
      seesStarts: (client) => seesStarts(current().step, client),
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
      // Present only if the step has it, because its presence means that the step renames prompts.
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

/** One version and its running calls. */
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
