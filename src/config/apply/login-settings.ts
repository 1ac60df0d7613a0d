// The login of a configured server. Files are read when the login happens, because platforms replace them.
import { readFile } from 'node:fs/promises';
import type { LoginOptions } from '../../mcp/connect/accounts/login-options.ts';
import type { LoginConfig } from '../config.ts';
import { isPem } from '../redact-config.ts';

export function toLoginSettings(config: LoginConfig | undefined): LoginOptions | undefined {
  if (config === undefined) return undefined;
  const { assertionFile, clientKey, idp, exchange, ...rest } = config;
  return {
    ...rest,
    clientKey: clientKey === undefined || isPem(clientKey) ? clientKey : () => readText(clientKey),
    assertion: assertionFile === undefined ? rest.assertion : () => readText(assertionFile),
    exchange: exchange && { ...exchange, tokenEndpoint: exchange.tokenEndpoint ?? '' },
    idp: idp && {
      tokenEndpoint: idp.tokenEndpoint ?? '',
      clientId: idp.clientId ?? '',
      clientSecret: idp.clientSecret,
      idToken: idp.idTokenFile === undefined ? (idp.idToken ?? '') : () => readText(idp.idTokenFile!),
    },
  };
}

async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim();
}
