// Answers what a server asks: by the handlers of the embedding program, each only after the approver has agreed. Without a
// handler there is no answer, and the capability was never declared.
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  ElicitRequestParams,
  Implementation,
  Root,
} from '@modelcontextprotocol/client';
import type { Ask } from '../protocol/exchange.ts';
import type { JsonObject } from '../protocol/message.ts';
import { GatewayError } from '../shared/errors.ts';
import { fillDefaults } from './fill-defaults.ts';
import type { Approval, ConnectOptions } from './types.ts';

export class Answers {
  readonly #options: ConnectOptions;
  #roots: Root[];
  /** Known once connected; a server asks nothing before. */
  server: () => Implementation | undefined = () => undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#roots = checkRoots(options.roots ?? []);
  }

  get capabilities(): ClientCapabilities {
    const { onElicit, elicitUrls, onSample, sampleTools, roots, capabilities } = this.#options;
    return {
      ...capabilities,
      ...(roots && { roots: { listChanged: true } }),
      ...(onSample && { sampling: sampleTools ? { tools: {} } : {} }),
      ...(onElicit && { elicitation: elicitUrls ? { form: {}, url: {} } : { form: {} } }),
    };
  }

  setRoots(roots: Root[]): void {
    this.#roots = checkRoots(roots);
  }

  async answer({ method, params = {} }: Ask, signal: AbortSignal): Promise<JsonObject> {
    const context = { server: this.server(), signal };
    const { onElicit, onSample, roots } = this.#options;
    if (method === 'elicitation/create' && onElicit) {
      const request = params as unknown as ElicitRequestParams;
      await this.approve({ kind: 'elicitation', request });
      return fillDefaults(await onElicit(request, context), params);
    }
    if (method === 'sampling/createMessage' && onSample) {
      const request = params as unknown as CreateMessageRequestParams;
      await this.approve({ kind: 'sampling', request });
      return await onSample(request, context);
    }
    if (method === 'roots/list' && roots) {
      await this.approve({ kind: 'roots' });
      return { roots: this.#roots };
    }
    throw new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: method });
  }

  /** Throws NOT_APPROVED. */
  async approve(details: Approval): Promise<void> {
    const { approve } = this.#options;
    if (approve && !(await approve(details.kind, details)))
      throw new GatewayError('NOT_APPROVED', { what: details.kind });
  }
}

function checkRoots(roots: Root[]): Root[] {
  const foreign = roots.find(({ uri }) => !uri.startsWith('file://'));
  if (foreign) throw new GatewayError('BAD_OPTION', { option: 'roots', reason: `${foreign.uri} is no file:// URI` });
  return roots;
}
