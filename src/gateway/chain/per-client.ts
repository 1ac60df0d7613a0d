// Creates a separate step for every client when it first calls: tools per user, caches per team. Such a step remembers only its
// own client's data. Beyond a limit, the least recently used steps are dropped and created again when needed.
import type { ClientView } from '../../kernel/exchange.ts';
import type { Step } from '../../kernel/step.ts';
import { atOnce } from '../../kernel/base/stray-promises.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { seesStarts } from './judge-starts.ts';
import { misuseError } from './step-error.ts';

const MAX_STEPS = 1000;

interface PerClientOptions {
  /** For logs and errors. */
  name?: string | undefined;
  /** Clients with the same key share a step. Default: the principal. */
  key?: ((client: ClientView) => string) | undefined;
}

/**
 * A step of its own for each caller. `make` must be deterministic per key: it is called once.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-parley';
 * import { filter, perClient } from 'mcp-parley/middleware';
 *
 * createGateway({ servers: { notes: 'http://127.0.0.1:3001/mcp' }, steps: [perClient(({ principal }) => filter(principal === 'ann' ? {} : { deny: ['delete_*'] }))] });
 * ```
 */
export function perClient(make: (client: ClientView) => Step, options: PerClientOptions = {}): Step {
  const { name = make.name || 'perClient', key = ({ principal }) => principal } = options;
  const steps = new BoundedMap<string, Step>(MAX_STEPS);
  const stepOf = (client: ClientView): Step =>
    steps.getOrCreate(atOnce(`key of ${name}`, key(client)), () => atOnce(name, make(client)));
  return {
    name,
    seesStarts: (client) => seesStarts(stepOf(client), client),
    handle(exchange, next, lookUp, originOf) {
      const { handle, methods, name: inner } = stepOf(exchange.client);
      if (methods && !methods.includes(exchange.method)) return next();
      if (!handle) throw misuseError(name, `got a step without a handle: ${inner}`);
      return handle(exchange, next, lookUp, originOf);
    },
    reword(error, passedOn, found) {
      for (const [, { reword }] of steps.entries()) {
        const told = reword?.(error, passedOn, found);
        if (told !== undefined) return told;
      }
      return undefined;
    },
    /**
     * A change goes to all clients, so it names nothing that one of them may not see. Each client's step sees that its list has
     * changed.
     */
    onChange(change, originOf) {
      for (const [, { onChange }] of steps.entries()) atOnce(`onChange of ${name}`, onChange?.(change, originOf));
      return change.kind === 'tools' ? { kind: 'tools' } : change;
    },
  };
}
