// Stores secrets and files as blobs outside of the journal. A secret is sealed for its session; the journal has only the name of the blob.
import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../authoring/step.ts';
import type { AnswerEntry, Header } from '../../journal.ts';
import { isFileAnswer } from '../../question/check-answer.ts';
import type { FileAnswer, FileRef } from '../../question/check-answer.ts';
import { isObject } from '../../../kernel/message.ts';
import { GatewayError } from '../../../kernel/base/errors.ts';
import type { SessionContext } from '../context/session-context.ts';

interface SecretRef {
  $secret: string;
}

type Owning = Pick<Header, 'id' | 'deadline'>;

const PURPOSE = 'flow-secret';

/** Stores a secret or file, and returns the reference for the journal. Undefined for any other answer. */
export async function storeApart(
  context: SessionContext,
  session: Owning,
  { isSecret, value }: { isSecret: boolean; value: unknown },
): Promise<{ ref: SecretRef | FileRef } | undefined> {
  if (isSecret) return { ref: await registerSecret(context, session, String(value)) };
  return isFileAnswer(value) ? { ref: await storeFile(context, session, value) } : undefined;
}

/** Whether a value equals the stored secret or file of an entry. */
export async function isStoredAnswer(
  context: SessionContext,
  sessionId: string,
  { v, ty }: AnswerEntry,
  value: unknown,
): Promise<boolean> {
  if (isSecretRef(v)) {
    const [kept, given] = [await revealSecret(context, sessionId, v as never), String(value)].map(digestOf);
    return timingSafeEqual(kept!, given!);
  }
  if (ty !== 'file' || !isFileAnswer(value)) return false;
  const { name, mimeType, sha256 } = v as FileRef;
  const bytes = Buffer.from(value.data, 'base64');
  return name === value.name && mimeType === value.mimeType && sha256 === hash('sha256', bytes, 'hex');
}

export function isSecretRef(value: unknown): value is SecretRef {
  return isObject(value) && typeof value['$secret'] === 'string';
}

function digestOf(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'));
}

async function registerSecret(context: SessionContext, session: Owning, text: string): Promise<SecretRef> {
  const bytes = Buffer.from(context.sealer.seal(PURPOSE, session.id, text));
  const name = hash('sha256', bytes, 'base64url');
  await context.store.putBlob(name, bytes, toLife(context, session));
  return { $secret: name };
}

export async function revealSecret(context: SessionContext, sessionId: string, secret: Secret): Promise<string> {
  const name = (secret as unknown as SecretRef).$secret;
  const bytes = await context.store.getBlob(name);
  const text = bytes && context.sealer.open(PURPOSE, sessionId, Buffer.from(bytes).toString());
  if (typeof text !== 'string')
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason: 'a secret that no longer exists' });
  return text;
}

export async function storeFile(
  context: SessionContext,
  session: Owning,
  { name, mimeType, data }: FileAnswer,
): Promise<FileRef> {
  const bytes = Buffer.from(data, 'base64');
  const { fileBytes } = context.limits;
  if (bytes.length > fileBytes) {
    const reason = `larger than ${fileBytes} bytes`;
    throw new GatewayError('FLOW_VALIDATION_FAILED', { sessionId: session.id, reason });
  }
  const sha256 = hash('sha256', bytes, 'hex');
  await context.store.putBlob(sha256, bytes, toLife(context, session));
  return { name, mimeType, size: bytes.length, sha256 };
}

/** As long as its session may last. */
function toLife({ limits, clock }: SessionContext, { deadline }: Owning): number {
  return Math.max(limits.durationMs, deadline - clock.now());
}

export async function readStoredFile(context: SessionContext, { sha256, name }: FileRef): Promise<Uint8Array> {
  const bytes = await context.store.getBlob(sha256);
  if (!bytes)
    throw new GatewayError('FLOW_MISUSED', { flow: 'a flow', reason: `the file ${name}, which no longer exists` });
  return bytes;
}
