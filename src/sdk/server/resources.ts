// The resources of a server: single ones, templates and providers. A URI is looked up in this order: exact, providers, templates. Each may
// return undefined for "not mine". The dialects keep the subscriptions.
import type { ClientView, Exchange } from '../../kernel/exchange.ts';
import { readOptionalString, readString, toInvalid } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { createCounter } from '../../kernel/crypto/ids.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { ExchangeCall } from './call.ts';
import type { Changes } from './changes.ts';
import { DefinitionRegistry, toListEntry } from './definition-registry.ts';
import type { Definition } from './definition-registry.ts';
import { fromCursor, toCacheHints, toListResult, toPage, toPageResult } from './list-pages.ts';
import type { ListPage } from './list-pages.ts';
import type * as Types from './types.ts';
import { parseUriTemplate } from './uri-template.ts';
import type { UriTemplate } from './uri-template.ts';

interface ResourceEntry extends Definition {
  readonly mimeType: string | undefined;
  readonly read: Types.ResourceReader;
}

interface TemplateEntry extends Definition {
  readonly mimeType: string | undefined;
  readonly template: UriTemplate;
  readonly complete: Record<string, Types.Completer> | undefined;
  readonly read: Types.TemplateReader;
}

interface ProviderEntry extends Definition {
  readonly provider: Types.ResourceProvider;
}

export class ServerResources {
  readonly #resources = new DefinitionRegistry<ResourceEntry>('resource');
  readonly #providers = new DefinitionRegistry<ProviderEntry>('provider');
  readonly #nextProvider = createCounter('provider-');
  readonly #options: Types.ServerOptions;
  readonly #changes: Changes;
  readonly templates: DefinitionRegistry<TemplateEntry> = new DefinitionRegistry<TemplateEntry>('resource template');

  constructor(options: Types.ServerOptions, changes: Changes) {
    this.#options = options;
    this.#changes = changes;
    for (const registry of [this.#resources, this.#providers, this.templates]) changes.track('resources', registry);
  }

  add(uri: string, options: Types.ResourceOptions, read: Types.ResourceReader): Types.Registration {
    const { name = uri, mimeType, size, annotations, only } = options;
    const listed = toListEntry({ uri, name }, options, { mimeType, size, annotations });
    return this.#changes.register('resources', this.#resources, { key: uri, only, listed, mimeType, read });
  }

  addTemplate(uriTemplate: string, options: Types.TemplateOptions, read: Types.TemplateReader): Types.Registration {
    const { name = uriTemplate, mimeType, annotations, only, complete } = options;
    const listed = toListEntry({ uriTemplate, name }, options, { mimeType, annotations });
    const template = parseUriTemplate(uriTemplate);
    const entry = { key: uriTemplate, only, listed, mimeType, template, complete, read };
    return this.#changes.register('resources', this.templates, entry);
  }

  addProvider(provider: Types.ResourceProvider): Types.Registration {
    const entry = { key: this.#nextProvider(), only: undefined, listed: {}, provider };
    return this.#changes.register('resources', this.#providers, entry);
  }

  isOffered(client: ClientView): boolean {
    return [this.#resources, this.#providers, this.templates].some((registry) => registry.isOffered(client));
  }

  /** The name of the resource, for dialects that report changes by name. */
  nameOf(uri: string): string | undefined {
    return this.#resources.findAny(uri)?.listed['name'] as string | undefined;
  }

  async list(exchange: Exchange): Promise<JsonObject> {
    const cursor = readOptionalString(exchange.params, 'cursor');
    const providers = [...this.#providers.entries()].map(({ provider }) => provider);
    const isForeign = cursor !== undefined && fromCursor(cursor) === undefined && providers.length > 0;
    const own = isForeign
      ? { items: [], nextCursor: cursor }
      : toPage(this.#resources.listed(exchange.client), cursor, this.#options.pageSize);
    const isLast = isForeign || own.nextCursor === undefined;
    const page = isLast ? await continueWithProviders(own, providers, new ExchangeCall(exchange)) : own;
    return toPageResult('resources', page, this.#options);
  }

  listTemplates(exchange: Exchange): JsonObject {
    const templates = this.templates.listed(exchange.client);
    return toListResult('resourceTemplates', templates, { exchange, options: this.#options });
  }

  async read(exchange: Exchange): Promise<JsonObject> {
    const uri = readString(exchange.params, 'uri');
    const result = await this.#find(uri, exchange);
    if (result === undefined) throw new GatewayError('RESOURCE_NOT_FOUND', { uri });
    return { ...toCacheHints(this.#options), ...result };
  }

  /** A URI is known if it can be read, as a template also matches URIs that do not exist. */
  async subscribe(exchange: Exchange): Promise<JsonObject> {
    const uri = readString(exchange.params, 'uri');
    const isKnown = this.#resources.find(uri, exchange.client) ?? (await this.#find(uri, exchange));
    if (isKnown === undefined) throw new GatewayError('RESOURCE_NOT_FOUND', { uri });
    return {};
  }

  unsubscribe(exchange: Exchange): JsonObject {
    readString(exchange.params, 'uri');
    return {};
  }

  async #find(uri: string, exchange: Exchange): Promise<JsonObject | undefined> {
    const call = new ExchangeCall(exchange);
    const exact = this.#resources.find(uri, exchange.client);
    let returned = await exact?.read(uri, call);
    if (returned !== undefined) return toResourceResult(returned, { uri, mimeType: exact?.mimeType });
    for (const { provider } of this.#providers.entries()) {
      returned = await provider.read(uri, call);
      if (returned !== undefined) return toResourceResult(returned, { uri, mimeType: undefined });
    }
    for (const { template, read, mimeType } of this.templates.visible(exchange.client)) {
      const variables = template.match(uri);
      returned = variables && (await read(uri, variables, call));
      if (returned !== undefined) return toResourceResult(returned, { uri, mimeType });
    }
    return undefined;
  }
}

function toResourceResult(
  returned: Types.ResourceReturn,
  { uri, mimeType }: { uri: string; mimeType: string | undefined },
): JsonObject {
  if (Array.isArray(returned)) return { contents: returned };
  const head = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof returned === 'string') return { contents: [{ ...head, text: returned }] };
  if (!(returned instanceof Uint8Array)) return { ...returned };
  const blob = Buffer.from(returned.buffer, returned.byteOffset, returned.byteLength).toString('base64');
  return { contents: [{ ...head, blob }] };
}

/**
 * The pages of providers follow those of the server's own resources. `page.nextCursor` is the cursor of a provider to continue from;
 * without it, the first provider begins. Cursors of a provider pass unchanged, and the next one begins on the last page of the one before.
 */
async function continueWithProviders(
  page: ListPage<JsonObject>,
  providers: Types.ResourceProvider[],
  call: Types.Call,
): Promise<ListPage<JsonObject>> {
  const items = [...page.items];
  let cursor = page.nextCursor;
  for (const provider of providers) {
    const listed = await provider.list(cursor, call);
    if (listed === undefined) continue;
    cursor = undefined;
    items.push(...listed.resources);
    if (listed.nextCursor !== undefined) return { items, nextCursor: listed.nextCursor };
  }
  if (cursor !== undefined) throw toInvalid('cursor', 'Invalid cursor');
  return { items };
}
