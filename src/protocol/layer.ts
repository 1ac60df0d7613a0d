// A layer wraps a target. It handles what concerns it and passes everything else on.
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/client';
import type { ClientView, Exchange } from './exchange.ts';
import type { JsonObject, NotificationMessage } from './message.ts';
import type { ResultObject } from './raw/raw-object.ts';
import type { Change, ClientOpening, Target, Watcher } from './target.ts';

export type Layer = (next: Target) => Target;

/** Passes everything on; subclasses override what they are about. */
export class TargetLayer implements Target {
  protected readonly target: Target;

  constructor(target: Target) {
    this.target = target;
  }

  handle(exchange: Exchange): Promise<ResultObject> | ResultObject {
    return this.target.handle(exchange);
  }

  get info(): Implementation {
    return this.target.info;
  }

  get instructions(): string | undefined {
    return this.target.instructions;
  }

  get isPerUser(): boolean | undefined {
    return this.target.isPerUser;
  }

  get status(): Target['status'] {
    return this.target.status;
  }

  greeting(client: ClientView): JsonObject | undefined {
    return this.target.greeting?.(client);
  }

  setLevel(level: unknown, client: ClientView): Promise<void> | undefined {
    return this.target.setLevel?.(level, client);
  }

  capabilities(client: ClientView): ServerCapabilities {
    return this.target.capabilities(client);
  }

  async ready(opening?: ClientOpening): Promise<void> {
    await this.target.ready?.(opening);
  }

  watch(listener: (change: Change) => void, watcher?: Watcher): () => void {
    return this.target.watch(listener, watcher);
  }

  async subscribe(uri: string, client: ClientView): Promise<void> {
    await this.target.subscribe?.(uri, client);
  }

  async followTask(taskId: string, client: ClientView): Promise<void> {
    await this.target.followTask?.(taskId, client);
  }

  notify(notification: NotificationMessage, client: ClientView): void {
    this.target.notify?.(notification, client);
  }

  inputSchema(tool: string, client: ClientView): JsonObject | undefined {
    return this.target.inputSchema?.(tool, client);
  }
}
