// Chooses the scopes to ask for: what the server demands, else what it supports, else what is configured.

export interface ScopeSources {
  challenged?: string | undefined;
  supported?: readonly string[] | undefined;
  configured?: readonly string[] | undefined;
  /** Asked for earlier; a step-up keeps it. */
  earlier?: string | undefined;
  /** What the authorization server supports; a refresh token may need its own scope. */
  authority?: readonly string[] | undefined;
  /** Whether refresh tokens are of use. */
  refreshes: boolean;
}

/** Undefined: ask for no scope, so that the authorization server decides. */
export function selectScope(sources: ScopeSources): string | undefined {
  const { challenged, supported, configured, earlier, authority, refreshes } = sources;
  const named = challenged ?? (supported?.length ? supported.join(' ') : configured?.join(' '));
  const scopes = new Set([...words(earlier), ...words(named)]);
  if (refreshes && authority?.includes('offline_access')) scopes.add('offline_access');
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
}

export function unionOfScopes(...given: (string | undefined)[]): string | undefined {
  const all = new Set(given.flatMap(words));
  return all.size === 0 ? undefined : [...all].join(' ');
}

function words(scope: string | undefined): string[] {
  return scope?.split(' ').filter((word) => word !== '') ?? [];
}
