// Reads what a small form of ours sends, and the cookies of a browser.
import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 8 * 1024;

export async function readFormBody(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    if (text.length > MAX_BYTES) throw new Error('the form is too large');
  }
  return new URLSearchParams(text);
}

export function cookieIn({ headers }: IncomingMessage, name: string): string | undefined {
  const found = (headers.cookie ?? '').split('; ').find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}
