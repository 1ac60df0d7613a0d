// What a browser posts, read into form data: bounded before it is read, and only in the two ways in which a form is sent.
import type { HttpRequest } from '../../../shared/http.ts';

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

/** A browser shows our answer only if it may first send the rest, which goes nowhere. */
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
