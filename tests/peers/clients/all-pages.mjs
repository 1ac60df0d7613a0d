// Fetches all pages of a list.
export async function allPages(list, key) {
  const entries = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? undefined : { cursor });
    entries.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return entries;
}
