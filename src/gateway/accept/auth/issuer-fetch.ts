// Fetches JSON from an issuer: its metadata, its keys, its word about a token. The hosts that the operator has named may be private, and
// http is for issuers on this machine alone; what the metadata names beyond them is checked like any stranger's URL.
import { isObject } from '../../../protocol/message.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import { isLoopbackHost } from '../../../shared/net/address-kind.ts';
import { createGuardedFetch } from '../../../shared/net/guarded-fetch.ts';
import type { IssuerOptions } from './auth-options.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 512 * 1024;

interface IssuerRequest {
  headers?: Record<string, string> | undefined;
  /** Makes it a POST. */
  form?: URLSearchParams | undefined;
}

export type IssuerFetch = (url: string, request?: IssuerRequest) => Promise<JsonObject>;

export function createIssuerFetch({ issuer, jwksUrl, introspection }: IssuerOptions): IssuerFetch {
  const named = [issuer, jwksUrl, introspection?.url].flatMap((url) =>
    url === undefined ? [] : new URL(url).hostname,
  );
  const loopback = isLoopbackHost(new URL(issuer).hostname);
  const guarded = createGuardedFetch({ loopback, hosts: named, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  return async (url, { headers, form } = {}) => {
    const response = await guarded(url, {
      headers: { accept: 'application/json', ...headers, ...(form && { 'content-type': FORM }) },
      ...(form && { method: 'POST', body: form.toString() }),
    });
    if (!response.ok) throw new Error(`${new URL(url).origin} answered with ${response.status}`);
    const value: unknown = await response.json();
    if (!isObject(value)) throw new Error(`${new URL(url).origin} did not answer with a JSON object`);
    return value;
  };
}

const FORM = 'application/x-www-form-urlencoded';
