// The engine of front mode, which is installed beside Parley.
import { GatewayError } from '../../../../shared/errors.ts';

/** Throws BAD_OPTION if it is not installed. */
export async function loadFrontEngine() {
  return import('oidc-provider').catch((cause: unknown) => {
    const reason = 'it needs the package oidc-provider: npm install oidc-provider';
    throw new GatewayError('BAD_OPTION', { option: 'auth.front', reason }, { cause });
  });
}
