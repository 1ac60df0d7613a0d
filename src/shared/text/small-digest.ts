// A small hash (cyrb53) that needs no module, for names. Collisions can be made, so nothing may rely on there being none.

export function smallDigest(text: string): string {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const char of text) {
    const code = char.codePointAt(0)!;
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (2 ** 32 * (two & 0x1fffff) + (one >>> 0)).toString(36);
}
