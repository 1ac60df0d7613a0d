// What a browser sends besides the URL: cookies, the origin of the page whose form it submits, and the form itself.
import type { HttpRequest } from '../base/http.ts';

/** In the order in which the browser sent them: other hosts, ports and paths can add cookies of the same name. */
export function cookiesNamed(name: string, header: string | undefined): string[] {
  const all = header?.split(';').map((one) => one.trim()) ?? [];
  return all.filter((one) => one.startsWith(`${name}=`)).map((one) => one.slice(name.length + 1));
}

interface NewCookie {
  name: string;
  content: string;
  path: string;
  seconds: number;
  /** Lax: also sent when a link or redirect of another site leads here. */
  sameSite: 'Lax' | 'Strict';
  isSecure: boolean;
}

/** As `Set-Cookie`. No script can read it. */
export function toSetCookie({ name, content, path, seconds, sameSite, isSecure }: NewCookie): string {
  const cookie = `${name}=${content}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}`;
  return isSecure ? `${cookie}; Secure` : cookie;
}

/** Whether the browser speaks https, to us or to the proxy that `base` names. */
export function isSecureVisit({ socket }: Pick<HttpRequest, 'socket'>, base: URL): boolean {
  return base.protocol === 'https:' || 'encrypted' in socket;
}

/**
 * Whether a form was sent by one of our pages: of `base`, the URL at which browsers reach us, or of another name of this port, such as localhost.
 * Browsers send the origin of the page with a form; a request without one is not from a current browser. Behind a proxy that speaks https and is
 * not in `base`, only the browser itself can tell its pages from others of that host.
 */
export function isOwnOrigin(request: Pick<HttpRequest, 'headers' | 'socket'>, base: URL): boolean {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (site === 'same-origin' && origin === `https://${host}`) return true;
  return origin === base.origin || origin === `${isSecureVisit(request, base) ? 'https' : 'http'}://${host}`;
}

type PostedForm = FormData | 'too-large' | 'not-a-form';

const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

/** Reads a browser's POST into form data, up to a limit, in the two encodings that forms use. */
export async function readPost(request: HttpRequest, maxBytes: number): Promise<PostedForm> {
  const type = request.headers['content-type'] ?? '';
  if (!FORM.test(type)) return drained(request, 'not-a-form');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return drained(request, 'too-large');
  const body = await readBytes(request, maxBytes);
  if (!body) return 'too-large';
  try {
    return await new Response(body, { headers: { 'content-type': type } }).formData();
  } catch {
    return 'not-a-form';
  }
}

/** Reads and discards the rest, because a browser shows our answer only after it has sent everything. */
function drained(request: HttpRequest, reason: 'too-large' | 'not-a-form'): PostedForm {
  request.resume();
  return reason;
}

function readBytes(request: HttpRequest, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      request.removeAllListeners('data').resume();
      resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () => reject(new Error('the browser hung up')));
  });
}
