// Secrets and files lie beside the journal, not in it. A secret is sealed for its session before it is stored; the journal has
// only the name of the sealed bytes.
import { hash } from 'node:crypto';
import type { Secret } from '../authoring/step.ts';
import type { FileAnswer, FileRef } from '../question/check-file.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Setup } from './setup.ts';

interface SecretRef {
  $secret: string;
}

const PURPOSE = 'flow-secret';

export async function keepSecret(setup: Setup, sessionId: string, text: string): Promise<SecretRef> {
  const bytes = Buffer.from(setup.sealer.seal(PURPOSE, sessionId, text));
  const name = hash('sha256', bytes, 'base64url');
  await setup.store.putBlob(name, bytes, setup.limits.durationMs);
  return { $secret: name };
}

export async function revealSecret(setup: Setup, sessionId: string, secret: Secret): Promise<string> {
  const name = (secret as unknown as SecretRef).$secret;
  const bytes = await setup.store.getBlob(name);
  const text = bytes && setup.sealer.open(PURPOSE, sessionId, Buffer.from(bytes).toString());
  if (typeof text !== 'string')
    throw new GatewayError('FLOW_MISUSED', { reason: 'a secret that is not there any more' });
  return text;
}

export async function keepFile(setup: Setup, { name, mimeType, data }: FileAnswer): Promise<FileRef> {
  const bytes = Buffer.from(data, 'base64');
  const sha256 = hash('sha256', bytes, 'hex');
  await setup.store.putBlob(sha256, bytes, setup.limits.durationMs);
  return { name, mimeType, size: bytes.length, sha256 };
}

export async function readFile(setup: Setup, { sha256, name }: FileRef): Promise<Uint8Array> {
  const bytes = await setup.store.getBlob(sha256);
  if (!bytes) throw new GatewayError('FLOW_MISUSED', { reason: `the file ${name}, which is not there any more` });
  return bytes;
}
