// Builds the envelope of our requests to stateless servers: it names the client that each call is for. The text is
// encoded once per client.
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client';
import { writeExactly } from '../../../../protocol/raw/exact-numbers.ts';
import type { JsonObject } from '../../../../protocol/message.ts';
import { isObject } from '../../../../protocol/message.ts';
import type { OutgoingCall } from '../../../../protocol/server-view.ts';
import { EncodedParams } from '../../../../protocol/raw/encoded-params.ts';
import { SmallMemo } from '../../../../shared/containers/small-memo.ts';
import { META, TASKS_EXTENSION } from '../../meta.ts';

export interface StatelessIdentity {
  info: Implementation;
  capabilities: ClientCapabilities;
  logLevel?: string | undefined;
}

type Enveloped = Partial<Pick<OutgoingCall, 'trace' | keyof StatelessIdentity>>;

export class OutgoingEnvelope {
  readonly #revision: string;
  readonly #own: StatelessIdentity;
  readonly #written = new SmallMemo<string>();

  /** `own` is the identity of calls that are made for no client. */
  constructor(revision: string, own: StatelessIdentity) {
    this.#revision = revision;
    this.#own = { ...own };
  }

  set logLevel(level: string) {
    this.#own.logLevel = level;
  }

  /** Puts params into their envelope. */
  around(params: JsonObject | undefined, call: Enveloped = {}, progressToken?: number): EncodedParams {
    if (!call.trace && params?._meta === undefined) {
      const token = progressToken === undefined ? '' : `,"progressToken":${progressToken}`;
      return new EncodedParams(params, `${this.#textFor(call)}${token}}`);
    }
    const own = isObject(params?._meta) ? params._meta : undefined;
    const meta = { ...own, ...toEnvelope(this.#revision, this.#identityOf(call)), ...call.trace, progressToken };
    return new EncodedParams({ ...params, _meta: undefined }, writeExactly(meta));
  }

  #identityOf({ info, capabilities, logLevel }: Enveloped): StatelessIdentity {
    const own = this.#own;
    return {
      info: info ?? own.info,
      capabilities: capabilities ?? own.capabilities,
      logLevel: logLevel ?? own.logLevel,
    };
  }

  /** The envelope as JSON without its last brace. */
  #textFor(call: Enveloped): string {
    const { info = this.#own.info, capabilities = this.#own.capabilities, logLevel = this.#own.logLevel } = call;
    const known = this.#written.get(info, capabilities, logLevel);
    if (known !== undefined) return known;
    const text = JSON.stringify(toEnvelope(this.#revision, { info, capabilities, logLevel })).slice(0, -1);
    return this.#written.keep(text, info, capabilities, logLevel);
  }
}

export function toEnvelope(revision: string, { info, capabilities, logLevel }: StatelessIdentity): JsonObject {
  return {
    [META.protocolVersion]: revision,
    [META.clientInfo]: info,
    [META.clientCapabilities]: capabilities,
    ...(logLevel !== undefined && { [META.logLevel]: logLevel }),
  };
}

const tasked = new SmallMemo<ClientCapabilities>();

/** Capabilities to declare when tasks are followed. */
export function withTasks(capabilities: ClientCapabilities): ClientCapabilities {
  const known = tasked.get(capabilities);
  if (known) return known;
  const extensions = { ...capabilities.extensions, [TASKS_EXTENSION]: {} };
  return tasked.keep({ ...capabilities, extensions }, capabilities);
}
