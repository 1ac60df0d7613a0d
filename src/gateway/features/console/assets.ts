// The files of the console for browsers, which the build has made. They are read once, when somebody asks for the first of them.
import { readFileSync, readdirSync } from 'node:fs';
import type { HttpHandler } from '../../../kernel/base/http.ts';
import { PACKAGE_FOLDER } from '../../../kernel/version.ts';
import { sendReply } from './replies.ts';

const FOLDER = new URL('dist/console/', PACKAGE_FOLDER);
const PAGE = 'index.html';
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
/** Their names are made of their content. */
const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable' };
const MISSING = { status: 404, type: 'text/plain', body: 'Not found\n' };

let files: ReadonlyMap<string, Buffer> | undefined;

export const shellPage: HttpHandler = (request, response) => {
  const body = all().get(PAGE);
  if (body) sendReply(request, response, { status: 200, type: TYPES['html']!, body });
  else sendReply(request, response, { ...MISSING, body: 'The console was not built: npm run build\n' });
};

export const assetPage: HttpHandler = (request, response) => {
  const name = /([\w.-]+)(?:\?|$)/.exec(request.url ?? '')?.[1] ?? '';
  const body = name === PAGE ? undefined : all().get(name);
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (body && type !== undefined) sendReply(request, response, { status: 200, type, body, headers: FOR_EVER });
  else sendReply(request, response, MISSING);
};

function all(): ReadonlyMap<string, Buffer> {
  return (files ??= read());
}

function read(): ReadonlyMap<string, Buffer> {
  try {
    return new Map(readdirSync(FOLDER).map((name) => [name, readFileSync(new URL(name, FOLDER))]));
  } catch {
    return new Map(); // a checkout that was not built
  }
}
