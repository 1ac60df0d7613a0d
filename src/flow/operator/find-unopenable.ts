// Lists the parts of a session that the given keys do not open. Continuing it anyway would ask for arguments again, and fail where a step
// needs a secret.
import { hasUnopenableArgs } from '../session/values/stored-args.ts';
import { isSecretRef, revealSecret } from '../session/values/secrets.ts';
import type { SessionContext } from '../session/context/session-context.ts';
import type { StoredSession } from '../store/store.ts';

export async function findUnopenable(context: SessionContext, stored: StoredSession): Promise<string[]> {
  const shut: string[] = hasUnopenableArgs(context, stored) ? ['arguments'] : [];
  for (const entry of stored.entries) {
    if (entry.t !== 'ans' || !isSecretRef(entry.v)) continue;
    const secret = entry.v as unknown as Parameters<typeof revealSecret>[2];
    await revealSecret(context, stored.header.id, secret).catch(() => shut.push(`the secret ${entry.k}`));
  }
  return shut;
}
