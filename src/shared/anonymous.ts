// Who a caller is that nobody has identified: its own connection. What is its own ends with it, and nobody else can ever come for it.
import { randomId } from './crypto/ids.ts';

const PREFIX = 'anonymous:';

export function anonymousPrincipal(kind: string, id: string = randomId()): string {
  return `${PREFIX}${kind}:${id}`;
}

export function isAnonymous(principal: string): boolean {
  return principal.startsWith(PREFIX);
}
