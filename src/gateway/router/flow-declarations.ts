// Finds out which members have interactive tools (MCP Flow). A member declares it in its capabilities, or in its answer to the
// method `capabilities`. The others are asked when a client wants to know, and again after a while.
import type { ClientView } from '../../protocol/exchange.ts';
import { flowOf } from '../../protocol/interaction.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { InternalExchange } from '../../protocol/internal-exchange.ts';
import { toPlainObject } from '../../protocol/raw/raw-object.ts';
import type { Target } from '../../protocol/target.ts';
import { ticksOf } from '../../shared/clock.ts';
import type { Clock } from '../../shared/clock.ts';
import { GatewayError, ProtocolError } from '../../shared/errors.ts';
import { unlessLate } from '../../shared/timing.ts';
import type { Member } from './member.ts';

/** The server may have been replaced by then. */
const ASK_AGAIN_MS = 60_000;
/** How long a client may wait for a server that starts. */
const START_MS = 10_000;
const NOT_INTERACTIVE: JsonObject = { interactive: false };

export class FlowDeclarations {
  readonly #clock: Clock;
  readonly #asked = new WeakMap<Target, { declaration: JsonObject; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of({ target }: Member, client: ClientView): Promise<JsonObject> {
    await target.ready?.(client);
    const declared = flowOf(target.capabilities(client));
    if (declared) return declared;
    const known = this.#asked.get(target);
    if (known && known.until > ticksOf(this.#clock)) return known.declaration;
    const declaration = await ask(target, client);
    this.#asked.set(target, { declaration, until: ticksOf(this.#clock) + ASK_AGAIN_MS });
    return declaration;
  }

  /** The merged declaration. Sessions are persistent only if all members' are. */
  async merged(members: readonly Member[], client: ClientView, isDurable: boolean): Promise<JsonObject> {
    const asked = await Promise.all(members.map((member) => this.#soon(this.of(member, client))));
    const speaking = asked.filter(({ interactive }) => interactive === true);
    const [first] = speaking;
    if (!first) return NOT_INTERACTIVE;
    const features = speaking.map((one) => (isObject(one.features) ? one.features : {}));
    const names = new Set(features.flatMap((one) => Object.keys(one)));
    const anyHas = (name: string): boolean => features.some((one) => one[name] === true);
    const sessionPersistence =
      isDurable && speaking.length === members.length && features.every((one) => one.sessionPersistence === true);
    return {
      interactive: true,
      version: first.version,
      features: { ...Object.fromEntries([...names].map((name) => [name, anyHas(name)])), sessionPersistence },
    };
  }

  /** A server that is away or slow counts as not interactive. */
  async #soon(declaration: Promise<JsonObject>): Promise<JsonObject> {
    const declared = declaration.catch(() => NOT_INTERACTIVE);
    return (await unlessLate(declared, this.#clock, START_MS)) ?? NOT_INTERACTIVE;
  }
}

async function ask(target: Target, client: ClientView): Promise<JsonObject> {
  try {
    return toPlainObject(await target.handle(new InternalExchange('capabilities', {}, client)));
  } catch (thrown) {
    const isRefused = thrown instanceof ProtocolError || (thrown instanceof GatewayError && REFUSALS.has(thrown.code));
    if (isRefused) return NOT_INTERACTIVE;
    throw thrown;
  }
}

const REFUSALS = new Set<string>(['METHOD_NOT_FOUND', 'NOT_SUPPORTED']);
