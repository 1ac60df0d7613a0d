// Public URIs of the resources of several servers, so that a tool of one server never shows what another one has.
// 1. `ui://` URIs always have their server in front (server-uri.ts), and so has what looks like a public URI already.
// 2. Any other URI stays as it is for the first server in the configuration that has it. For a later one it is `parley://server/…`.
// 3. What a server says of its own URIs is put into the public form.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';
import { fieldOf, RawObject } from '../../protocol/raw/raw-object.ts';
import type { ResultObject } from '../../protocol/raw/raw-object.ts';
import { isReserved, readServerUri, writeServerUri } from '../../protocol/server-uri.ts';
import type { ServerUri } from '../../protocol/server-uri.ts';

/** Of one server; what comes later is not told apart. */
const MAX_URIS = 10_000;
/** How MCP Apps name the page of a tool, in `_meta.ui` and as it was written before. */
const OLD_UI_KEY = 'ui/resourceUri';

export class PublicUris {
  readonly #servers: readonly string[];
  readonly #known = new Map<string, Set<string>>();
  readonly #templates = new Map<string, Set<string>>();
  /** Servers that have URIs which are not public as they are. */
  readonly #affected = new Set<string>();
  /** Whether the resources of all servers are known. */
  isComplete = false;

  /** `servers`: in the order of the configuration. */
  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  /** Takes in URIs of all servers, each list at the place of its server. */
  learn(lists: readonly (readonly unknown[])[]): void {
    this.#takeIn(this.#known, lists);
    for (const server of this.#servers) {
      for (const uri of this.#known.get(server) ?? []) {
        if (this.publish(server, uri) !== uri) this.#affected.add(server);
      }
    }
  }

  learnTemplates(lists: readonly (readonly unknown[])[]): void {
    this.#takeIn(this.#templates, lists);
  }

  #takeIn(table: Map<string, Set<string>>, lists: readonly (readonly unknown[])[]): void {
    for (const [index, uris] of lists.entries()) {
      const server = this.#servers[index]!;
      const known = table.get(server) ?? new Set();
      table.set(server, known);
      for (const uri of uris) if (typeof uri === 'string' && known.size < MAX_URIS) known.add(uri);
    }
  }

  publish(server: string, uri: string): string {
    if (isReserved(uri)) return writeServerUri({ server, uri });
    const earlier = this.#servers.slice(0, this.#servers.indexOf(server));
    const isShared = earlier.some((other) => this.#known.get(other)?.has(uri));
    return isShared ? writeServerUri({ server, uri }) : uri;
  }

  /** Whose URI this is, where it says so. */
  owner(uri: string): ServerUri | undefined {
    return readServerUri(uri, this.#servers);
  }

  /** Whose resource or template is shown by this URI, as far as lists have told. */
  shownBy(uri: string): ServerUri | undefined {
    const owner = this.owner(uri);
    if (owner) return owner;
    const server = this.#servers.find((one) => this.#known.get(one)?.has(uri) || this.#templates.get(one)?.has(uri));
    return server === undefined ? undefined : { server, uri };
  }

  /** An entry of the list of tools. */
  publishTool(server: string, tool: JsonObject): JsonObject {
    const meta = this.#publishMeta(server, tool._meta);
    return meta === tool._meta ? tool : { ...tool, _meta: meta };
  }

  /**
   * A result of a tool or prompt, or what was read: links, embedded resources, pages. Large results of other servers stay unread.
   * `complete` makes the resources of all servers known.
   */
  async publishResult(server: string, result: ResultObject, complete: () => Promise<unknown>): Promise<ResultObject> {
    if (!mentions(result, '"uri"', 'esourceUri"')) return result;
    if (!this.isComplete) await complete();
    if (!this.#affected.has(server) && !mentions(result, '"ui:', '"parley:')) return result;
    const changed: JsonObject = {};
    for (const key of ['content', 'messages', 'contents', '_meta']) {
      const value = fieldOf(result, key);
      const published = key === '_meta' ? this.#publishMeta(server, value) : this.#publishBlocks(server, value);
      if (published !== value) changed[key] = published;
    }
    if (Object.keys(changed).length === 0) return result;
    return result instanceof RawObject ? result.with(changed) : { ...result, ...changed };
  }

  #publishBlocks(server: string, blocks: unknown): unknown {
    if (!Array.isArray(blocks)) return blocks;
    const published = blocks.map((block: unknown) => this.#publishBlock(server, block));
    return published.every((block, index) => block === blocks[index]) ? blocks : published;
  }

  /** A content block, a message of a prompt, or a part of a resource. */
  #publishBlock(server: string, block: unknown): unknown {
    if (!isObject(block)) return block;
    const { uri, resource, content } = block;
    const changed = {
      ...(typeof uri === 'string' && { uri: this.publish(server, uri) }),
      ...(isObject(resource) && { resource: this.#publishBlock(server, resource) }),
      ...(isObject(content) && { content: this.#publishBlock(server, content) }),
    };
    const isSame = Object.entries(changed).every(([key, value]) => value === block[key]);
    return isSame ? block : { ...block, ...changed };
  }

  #publishMeta(server: string, meta: unknown): unknown {
    if (!isObject(meta)) return meta;
    const { ui, [OLD_UI_KEY]: old } = meta;
    const page = isObject(ui) && typeof ui.resourceUri === 'string' ? ui.resourceUri : undefined;
    if (page === undefined && typeof old !== 'string') return meta;
    return {
      ...meta,
      ...(page !== undefined && { ui: { ...(ui as JsonObject), resourceUri: this.publish(server, page) } }),
      ...(typeof old === 'string' && { [OLD_UI_KEY]: this.publish(server, old) }),
    };
  }
}

/** The pages that tools name. */
export function pagesOf(tools: readonly JsonObject[]): unknown[] {
  return tools.flatMap(({ _meta }) => {
    if (!isObject(_meta)) return [];
    return [isObject(_meta.ui) ? _meta.ui.resourceUri : undefined, _meta[OLD_UI_KEY]];
  });
}

/** Whether one of the texts stands in it. What was read already is not searched. */
function mentions(result: ResultObject, ...texts: string[]): boolean {
  return !(result instanceof RawObject) || texts.some((text) => result.includes(text));
}
