// A transport by which a server behind a URL is reached.
import type { Clock } from '../../kernel/base/clock.ts';
import type { Limits } from '../../kernel/base/limits.ts';
import type { Log } from '../../kernel/base/log.ts';
import type { UrlTransport } from './address.ts';
import type { ServerLogin } from './accounts/server-login.ts';
import type { Link } from './links/link.ts';

export interface UrlLink {
  readonly transport: UrlTransport;
  /** As people name it. */
  readonly label: string;
  /** What configurations call it. */
  readonly words: readonly string[];
  /** Of its URLs, without the colon. */
  readonly schemes: readonly string[];
  /** Its code is loaded when it is first used, so that a program that uses no HTTP starts sooner. */
  open(options: UrlLinkOptions): Promise<Link>;
}

export interface UrlLinkOptions {
  url: string;
  headers: Record<string, string> | undefined;
  limits: Limits;
  log: Log;
  clock: Clock | undefined;
  id: string | undefined;
  login: ServerLogin | undefined;
}
