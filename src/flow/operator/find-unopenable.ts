// What of a session cannot be opened with the keys at hand. Who goes on with it all the same would ask for arguments that were given, and
// fail where a step needs a secret.
import { hasUnopenableArgs } from '../session/values/sealed-args.ts';
import { isSecretRef, revealSecret } from '../session/values/secrets.ts';
import type { SessionContext } from '../session/session-context.ts';
import type { StoredSession } from '../store/store.ts';

export async function findUnopenable(setup: SessionContext, stored: StoredSession): Promise<string[]> {
  const shut: string[] = hasUnopenableArgs(setup, stored) ? ['arguments'] : [];
  for (const entry of stored.entries) {
    if (entry.t !== 'ans' || !isSecretRef(entry.v)) continue;
    const secret = entry.v as unknown as Parameters<typeof revealSecret>[2];
    await revealSecret(setup, stored.header.id, secret).catch(() => shut.push(`the secret ${entry.k}`));
  }
  return shut;
}
