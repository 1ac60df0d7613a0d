// Reads a browser's POST into form data, up to a limit, in the two encodings that forms use.
import type { HttpRequest } from '../http.ts';

export type PostedForm = FormData | 'too-large' | 'not-a-form';

const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

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
