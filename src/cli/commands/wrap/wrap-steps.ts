// The steps of `parley wrap --step FILE`: each file is loaded, and loaded again when it changes, as a step of a configuration. Nobody is asked
// whether to trust it, because its user has just named it.
import { resolve } from 'node:path';
import { FlowLayer } from '../../../gateway/features/flow/flow-layer.ts';
import { MiddlewareMCPServer } from '../../../gateway/mcp-chain.ts';
import { watchStep } from '../../../gateway/chain/load/watch-step.ts';
import type { WatchedStep } from '../../../gateway/chain/load/watch-step.ts';
import { TargetLayer } from '../../../kernel/target.ts';
import type { Layer, Target } from '../../../kernel/target.ts';
import { systemClock } from '../../../kernel/base/clock.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import type { Log } from '../../../kernel/base/log.ts';

/** The server behind the steps. */
export interface WrappedBehind {
  name: string;
  target: Target;
  log: Log;
}

/** By its name, a server is known before it has told its own. */
class NamedTarget extends TargetLayer {
  readonly name: string;

  constructor(name: string, target: Target) {
    super(target);
    this.name = name;
  }
}

export class WrapSteps {
  /** The steps before the server. */
  readonly target: MiddlewareMCPServer;
  /** Plays tools for clients that speak MCP Flow, where a step wants a call. */
  readonly flows: Layer;
  readonly #watched: readonly WatchedStep[];

  private constructor(watched: readonly WatchedStep[], { name, target, log }: WrappedBehind) {
    this.#watched = watched;
    this.target = new MiddlewareMCPServer(
      new NamedTarget(name, target),
      watched.map(({ step }) => step),
      { log },
    );
    this.flows = (next) => new FlowLayer(next, { clock: systemClock, log, limits: DEFAULT_LIMITS, onlyForSteps: true });
  }

  /** `files`: outermost first. Rejects if one cannot be loaded. */
  static async open(files: readonly string[], behind: WrappedBehind): Promise<WrapSteps> {
    const watched: WatchedStep[] = [];
    try {
      for (const file of files) watched.push(await watchStep(resolve(file), { log: behind.log }));
    } catch (thrown) {
      for (const one of watched) one.close();
      throw thrown;
    }
    return new WrapSteps(watched, behind);
  }

  async close(): Promise<void> {
    for (const one of this.#watched) one.close();
    await this.target.close();
  }
}
