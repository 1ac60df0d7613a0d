// The page of an identity provider on which a person says who they are.
import type { IncomingMessage, ServerResponse } from 'node:http';

const PAGE = `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Sign in</title><main><h1>Sign in</h1>
<form method="post"><label>Name <input name="name" required></label> <button>Sign in</button></form></main></html>`;

/** The name that the person has sent; undefined if the page has been shown now. */
export async function signIn(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    return undefined;
  }
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return new URLSearchParams(body).get('name') ?? '';
}
