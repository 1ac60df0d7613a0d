// Who may see which page beside MCP. Health checks and pages whose link is a secret need no login. /status and /metrics are for operators:
// with a login they need its admin scope, or its token; without one they are for this machine alone, and not behind a proxy.
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { HttpHandler, HttpRequest } from '../../../kernel/base/http.ts';
import { isLocalRequest } from '../guard.ts';
import type { HttpVisit } from './http-visit.ts';

type Pages = Readonly<Record<string, HttpHandler>>;

interface PageSources {
  /** Of the program; they win over ours. */
  own: Pages;
  ours: Pages;
  /** Pages whose URL is a secret. */
  open: Pages;
  /** The operator chose to show /metrics to everybody. */
  isPublic?: boolean | undefined;
}

interface SplitPages {
  pages: Record<string, HttpHandler>;
  openPages: Record<string, HttpHandler>;
}

const HEALTH = ['/healthz', '/readyz'];
const BY_LINK = ['/ask', '/ask/'];

export function splitPages({ own, ours, open, isPublic = false }: PageSources): SplitPages {
  const unguarded = [...HEALTH, ...BY_LINK, ...(isPublic ? ['/metrics'] : [])];
  const isOpen = (path: string): boolean => unguarded.includes(path) && !Object.hasOwn(own, path);
  const parts = (wanted: boolean) => Object.entries(ours).filter(([path]) => isOpen(path) === wanted);
  return {
    pages: { ...Object.fromEntries(parts(false)), ...own },
    openPages: { ...Object.fromEntries(parts(true)), ...open },
  };
}

/** The page at a path. One whose own path ends in a slash has everything right below it; one that ends in a star and a slash has what is below any one name there. */
export function findPage(pages: Pages = {}, path: string): HttpHandler | undefined {
  if (Object.hasOwn(pages, path)) return pages[path];
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  if (folder.length <= 1) return undefined;
  if (Object.hasOwn(pages, folder)) return pages[folder];
  const anyFolder = folder.replace(/[^/]+\/$/, '*/');
  return Object.hasOwn(pages, anyFolder) ? pages[anyFolder] : undefined;
}

/** Programs that ask for the root of a gateway get what they get at any path without a page. */
export function isForBrowser(path: string, { method, headers }: Pick<HttpRequest, 'method' | 'headers'>): boolean {
  return path !== '/' || ((method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true);
}

const ADMIN = new Set(['/status', '/metrics']);
/** What the console shows, for programs. */
const ADMIN_FOLDER = '/console/api/';

/** Whether a page is for operators: its scope alone counts there, so that who reads counters need not be allowed to call tools. */
export function isAdminPage(path: string): boolean {
  return ADMIN.has(path) || path.startsWith(ADMIN_FOLDER);
}

/** Throws unless this visitor may see the page. `hasProxy`: the operator has said that there is a proxy, or how browsers reach it. */
export function checkPage(path: string, { request, identity, access }: HttpVisit, hasProxy: boolean): void {
  if (!isAdminPage(path)) return;
  if (access) {
    const { adminScope, isNameless } = access.login;
    // No key or token implies this scope: without scopes of its own it allows everything else.
    if (!(identity ? identity.scopes?.includes(adminScope) : isNameless))
      throw new GatewayError('INSUFFICIENT_SCOPE', { scope: adminScope });
  } else if (hasProxy || !isLocalRequest(request)) {
    throw new GatewayError('NOT_ALLOWED', {
      reason: `${path} is for this machine; with \`auth\`, for its admin scope`,
    });
  }
}
