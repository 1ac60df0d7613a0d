import type Provider from 'oidc-provider';
import type { ClientMetadata } from 'oidc-provider';

export const KNOWN_CLIENT: { clientId: string; clientSecret: string };

export interface JudgedIssuer {
  issuer: string;
  provider: Provider;
  close(): void;
}

export function startIssuer(options: {
  /** Says the URL that tokens are for. */
  resource: () => string;
  redirects?: string[];
  clients?: ClientMetadata[];
}): Promise<JudgedIssuer>;
