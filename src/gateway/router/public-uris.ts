// The public URIs of the resources of several servers, so that a tool of one server never shows a resource of another.
// 1. `ui://` and `skill://` URIs always contain their server (server-uri.ts), and so do URIs that look like public ones.
// 2. Any other URI stays unchanged for the first server in configuration order that has it. For later ones it becomes
//    `parley://server/…`.
// 3. URIs in a server's results are converted to public ones.
import type { JsonObject } from '../../kernel/message.ts';
import { isObject } from '../../kernel/message.ts';
import { fieldOf, RawObject } from '../../kernel/raw/raw-object.ts';
import type { ResultObject } from '../../kernel/raw/raw-object.ts';
import { isReserved, readServerUri, writeServerUri } from '../../kernel/server-uri.ts';
import type { ServerUri } from '../../kernel/server-uri.ts';

/** The limit per server; further URIs are not distinguished. */
const MAX_URIS = 10_000;
/** The former key of a tool's page in MCP Apps; now `_meta.ui`. */
const OLD_UI_KEY = 'ui/resourceUri';

export class PublicUris {
  readonly #servers: readonly string[];
  readonly #known = new Map<string, Set<string>>();
  readonly #templates = new Map<string, Set<string>>();
  /** Servers whose URIs differ from their public ones. */
  readonly #affected = new Set<string>();
  /** Whether the resources of all servers are known. */
  isComplete = false;

  /** `servers`: in configuration order. */
  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  /** Learns the URIs of all servers, one list per server. */
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

  /** The owner of a URI that contains its server. */
  owner(uri: string): ServerUri | undefined {
    return readServerUri(uri, this.#servers);
  }

  /** The owner of a listed resource or template. */
  shownBy(uri: string): ServerUri | undefined {
    const owner = this.owner(uri);
    if (owner) return owner;
    const server = this.#servers.find((one) => this.#known.get(one)?.has(uri) || this.#templates.get(one)?.has(uri));
    return server === undefined ? undefined : { server, uri };
  }

  publishTool(server: string, tool: JsonObject): JsonObject {
    const meta = this.#publishMeta(server, tool._meta);
    return meta === tool._meta ? tool : { ...tool, _meta: meta };
  }

  /**
   * Converts a result of a tool, prompt or read: links, embedded resources, pages. Large results without such URIs stay unparsed.
   * `complete` makes the resources of all servers known.
   */
  async publishResult(server: string, result: ResultObject, complete: () => Promise<unknown>): Promise<ResultObject> {
    if (!mentions(result, '"uri"', 'esourceUri"')) return result;
    if (!this.isComplete) await complete();
    if (!this.#affected.has(server) && !mentions(result, '"ui:', '"skill:', '"parley:')) return result;
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

  /** A content block, a prompt message, or a part of a resource. */
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

/** The pages named by tools. */
export function pagesOf(tools: readonly JsonObject[]): unknown[] {
  return tools.flatMap(({ _meta }) => {
    if (!isObject(_meta)) return [];
    return [isObject(_meta.ui) ? _meta.ui.resourceUri : undefined, _meta[OLD_UI_KEY]];
  });
}

/** Whether an unparsed result contains one of the texts; a parsed one always counts. */
function mentions(result: ResultObject, ...texts: string[]): boolean {
  return !(result instanceof RawObject) || texts.some((text) => result.includes(text));
}
