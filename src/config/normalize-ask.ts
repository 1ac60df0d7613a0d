// Normalizes `ask` and `roots`: models as a list, folders as URIs.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AskInput, RootInput } from './check/ask-shape.ts';
import type { TrustOption } from '../gateway/ask/trust/answer-trust.ts';
import type { AskConfig, RootConfig } from './config.ts';

export function normalizeAsk({ channels = ['page', 'relay'], trust, model }: AskInput): AskConfig {
  const asked = { channels: [...new Set(channels)], ...(trust !== undefined && { trust: trust as TrustOption }) };
  if (!model) return asked;
  const { url = '', headers = {}, model: names = [], ...rest } = model;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const models = typeof names === 'string' ? [names] : [...names];
  const form = { url, headers: { ...headers }, model: models, ...(Object.fromEntries(given) as typeof rest) };
  return { ...asked, model: form as AskConfig['model'] & object };
}

export function normalizeRoot(root: RootInput, folder: string): RootConfig {
  const { path, uri, name } = typeof root === 'string' ? toParts(root) : root;
  const href = uri ?? pathToFileURL(resolve(folder, path ?? '.')).href;
  return { uri: href, ...(name !== undefined && { name }) };
}

export function isFileUri(text: string): boolean {
  return /^file:\/\//i.test(text) && URL.canParse(text);
}

/** Anything else than a path or a file URI has been refused before. */
function toParts(text: string): { path?: string; uri?: string; name?: string } {
  return isFileUri(text) ? { uri: text } : { path: text };
}
