// Describes network errors for people.

/** Codes of Node and OpenSSL for a certificate whose issuer is not trusted. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** If all addresses of a host fail, describes the error of the first. */
export function describeNetworkError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeNetworkError(error.errors[0]);
  const said = error instanceof Error ? error.message || error.name : String(error);
  return UNTRUSTED.has((error as { code?: string } | undefined)?.code ?? '') ? `${said}${TRUST}` : said;
}

const TRUST =
  '; its certificate is not trusted. To trust it, set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its issuer';
