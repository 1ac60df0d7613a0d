// The pages of resource providers, which follow those of the server's own resources. Cursors of a provider pass unchanged; the next
// provider begins on the last page of the one before.
import type { JsonObject } from '../protocol/message.ts';
import type { ListPage } from './list-pages.ts';
import { toInvalid } from '../protocol/params.ts';
import type { Call, ResourceProvider } from './types.ts';

/** `page.nextCursor` is the cursor of a provider to continue from. Without it, the first provider begins. */
export async function continueWithProviders(
  page: ListPage<JsonObject>,
  providers: ResourceProvider[],
  call: Call,
): Promise<ListPage<JsonObject>> {
  const start = await findOwner(page.nextCursor, providers, call);
  const items = [...page.items, ...start.items];
  if (start.nextCursor !== undefined) return { items, nextCursor: start.nextCursor };
  for (const provider of providers.slice(start.next)) {
    const listed = await provider.list(undefined, call);
    items.push(...((listed?.resources ?? []) as JsonObject[]));
    if (listed?.nextCursor !== undefined) return { items, nextCursor: listed.nextCursor };
  }
  return { items };
}

/** The page of the provider that knows the cursor, and the index of the next provider. */
async function findOwner(
  cursor: string | undefined,
  providers: ResourceProvider[],
  call: Call,
): Promise<{ items: JsonObject[]; nextCursor?: string | undefined; next: number }> {
  if (cursor === undefined) return { items: [], next: 0 };
  for (const [index, provider] of providers.entries()) {
    const listed = await provider.list(cursor, call);
    if (listed === undefined) continue;
    return { items: listed.resources, nextCursor: listed.nextCursor, next: index + 1 };
  }
  throw toInvalid('cursor', 'Invalid cursor');
}
