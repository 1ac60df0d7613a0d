// A flow whose steps are boundaries: before and after the work of each, its check and its undo.
import type { AnyFlow, Ask, StepContext, StepOptions } from 'mcp-parley/flow';
import type { Pass } from './boundaries.ts';

type Work = (step: StepContext) => unknown;
type Step = (key: string, work: Work, options?: StepOptions<unknown>) => Promise<unknown>;
type Text = (key: string, options: object) => Promise<string>;
type Around = (name: string, work: () => unknown) => Promise<unknown>;

export function watchedFlow(flow: AnyFlow, pass: Pass): AnyFlow {
  const body = (ask: Ask, input: unknown): Promise<unknown> => {
    // The first thing that each of the flows is told is the name of its player.
    let whose: string | undefined;
    const around: Around = async (name, work) => {
      await pass(whose, [`before ${name}`]);
      const done = await work();
      await pass(whose, [`after ${name}`]);
      return done;
    };
    const text: Text = async (key, options) => {
      const said = await (ask as unknown as { text: Text }).text(key, options);
      whose ??= said;
      return said;
    };
    return flow.body(Object.assign(watchedAsk(ask, '', around), { text }), input) as Promise<unknown>;
  };
  return { ...flow, body };
}

function watchedAsk(ask: Ask, scope: string, around: Around): Ask {
  const step: Step = (key, work, options) => {
    const { check, undo } = options ?? {};
    const name = scope + key;
    return (ask as unknown as { step: Step }).step(key, (context) => around(`step ${name}`, () => work(context)), {
      ...options,
      ...(check && { check: (context: StepContext) => around(`check ${name}`, () => check(context)) }),
      ...(undo && { undo: (done: unknown, context: StepContext) => around(`undo ${name}`, () => undo(done, context)) }),
    } as StepOptions<unknown>);
  };
  const scoped = (id: string): Ask => watchedAsk(ask.scope(id), `${scope}${id}.`, around);
  return Object.assign(Object.create(ask) as Ask, { step, scope: scoped });
}
