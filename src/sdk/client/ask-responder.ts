// Answers the requests of a server with the handlers of the embedding program, after the approver has agreed. A capability without a
// handler is not declared, and a server that asks anyway is refused.
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  ElicitRequestParams,
  Implementation,
  Root,
  ElicitResult,
} from '@modelcontextprotocol/client';
import type { Ask } from '../../kernel/exchange.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import type { Approval, AskContext, ConnectOptions } from './types.ts';
import { isObject } from '../../kernel/message.ts';
import { ELICIT_INPUT, LIST_ROOTS, SAMPLE_MESSAGE } from '../../kernel/methods.ts';

export class AskResponder {
  readonly #options: ConnectOptions;
  readonly #server: () => Promise<Implementation | undefined>;
  #roots: Root[];

  /** `server` resolves with the server that asks. It is a promise, as a server may ask before the connection is reported. */
  constructor(options: ConnectOptions, server: () => Promise<Implementation | undefined>) {
    this.#options = options;
    this.#server = server;
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
    if (!this.#options.roots) {
      const reason = 'connect with `roots`, if only an empty list, so that the server knows of them';
      throw new GatewayError('BAD_OPTION', { option: 'roots', reason });
    }
    this.#roots = checkRoots(roots);
  }

  async answer({ method, params = {}, human }: Ask, signal: AbortSignal): Promise<JsonObject> {
    const context = { server: await this.#server(), signal, ...(human && { human }) };
    const { roots, requests } = this.#options;
    if (requests && Object.hasOwn(requests, method)) return requests[method]!(params, context);
    if (method === ELICIT_INPUT) return this.#elicit(params, context);
    if (method === SAMPLE_MESSAGE) return this.#sample(params, context);
    if (method !== LIST_ROOTS || !roots) throw cannotBeAsked(method);
    await this.approve({ kind: 'roots' });
    return { roots: this.#roots };
  }

  /** Throws NOT_APPROVED. */
  async approve(details: Approval): Promise<void> {
    const { approve } = this.#options;
    if (approve && !(await approve(details.kind, details)))
      throw new GatewayError('NOT_APPROVED', { what: details.kind });
  }

  async #elicit(params: JsonObject, context: AskContext): Promise<JsonObject> {
    const { onElicit, elicitUrls } = this.#options;
    if (!onElicit) throw cannotBeAsked(ELICIT_INPUT);
    if (params.mode === 'url' && !elicitUrls) throw undeclared('elicitation of mode url');
    const request = params as unknown as ElicitRequestParams;
    await this.approve({ kind: 'elicitation', request });
    return fillDefaults(await onElicit(request, context), params);
  }

  async #sample(params: JsonObject, context: AskContext): Promise<JsonObject> {
    const { onSample, sampleTools } = this.#options;
    if (!onSample) throw cannotBeAsked(SAMPLE_MESSAGE);
    if (!sampleTools && (params.tools !== undefined || params.toolChoice !== undefined)) {
      throw undeclared('sampling with tools');
    }
    const request = params as unknown as CreateMessageRequestParams;
    await this.approve({ kind: 'sampling', request });
    return await onSample(request, context);
  }
}

function cannotBeAsked(what: string): GatewayError {
  return new GatewayError('CLIENT_CANNOT_BE_ASKED', { what });
}

/** The specification names this code. */
function undeclared(what: string): ProtocolError {
  return new ProtocolError(-32602, `This client did not declare ${what}`);
}

function checkRoots(roots: Root[]): Root[] {
  const foreign = roots.find(({ uri }) => typeof uri !== 'string' || !uri.startsWith('file://'));
  if (foreign) throw new GatewayError('BAD_OPTION', { option: 'roots', reason: `${foreign.uri} is not a file:// URI` });
  return roots;
}

/** Fills the defaults of a form's schema into an accepted answer. */
export function fillDefaults(result: ElicitResult, request: JsonObject): ElicitResult {
  const schema = request.requestedSchema;
  if (result.action !== 'accept' || !isObject(schema) || !isObject(schema.properties)) return result;
  const defaults = Object.entries(schema.properties).flatMap(([name, field]) =>
    isObject(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  );
  const given = Object.entries(result.content ?? {}).filter(([, value]) => value !== undefined);
  // fromEntries accepts every name; a server may call a field `__proto__`.
  return { ...result, content: Object.fromEntries([...defaults, ...given]) } as ElicitResult;
}
