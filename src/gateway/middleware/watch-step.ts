// A step from a file that is loaded anew when the file changes, or one beside it. A new version that cannot be loaded leaves the
// old one in place, and the log says why. Calls under way end with the version they began with.
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject } from '../../protocol/message.ts';
import type { Step } from '../../protocol/step.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
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
  /** Stays the same; does what the newest version does. */
  readonly step: Step;
  close(): void;
}

/** Editors write a file in several goes. */
const SETTLE_MS = 100;
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;

export async function watchStep(path: string, options: WatchStepOptions): Promise<WatchedStep> {
  const { log, onReload, clock = systemClock } = options;
  let current = await loadStep(path, options.options);
  let closed = false;
  let stop = (): void => {};
  const reload = async (): Promise<void> => {
    try {
      const loaded = await loadStep(path, options.options);
      if (closed) return;
      current = loaded;
      log.info({ step: current.name, path }, 'step.reloaded');
      onReload?.();
    } catch (error) {
      log.warn({ step: current.name, path, error }, 'step.kept');
    }
  };
  // The folder, not the file: editors put a new file in its place.
  const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
    if (file !== null && !SOURCE.test(file)) return;
    stop();
    stop = clock.after(SETTLE_MS, () => void reload());
  });
  watcher.on('error', (error) => log.warn({ step: current.name, path, error }, 'step.unwatched'));
  const close = (): void => {
    closed = true;
    stop();
    watcher.close();
  };
  return { step: following(() => current), close };
}

/** A chain reads which methods a step is for only once: so it is for all, and looks each time. */
function following(current: () => Step): Step {
  return {
    get name() {
      return current().name;
    },
    get toolWords() {
      return current().toolWords;
    },
    get repeats() {
      return current().repeats;
    },
    handle(exchange, next, lookUp, originOf) {
      const { handle, methods } = current();
      return handle && (!methods || methods.includes(exchange.method))
        ? handle(exchange, next, lookUp, originOf)
        : next();
    },
    onAsk: (ask, next, client) => current().onAsk?.(ask, next, client) ?? next(ask),
    reword: (...told) => current().reword?.(...told),
    toolBehind: (shown, scope) => current().toolBehind?.(shown, scope),
    promptBehind: (shown, scope) => current().promptBehind?.(shown, scope),
    onChange: (change, originOf) => {
      const { onChange } = current();
      return onChange ? onChange(change, originOf) : change;
    },
  };
}
