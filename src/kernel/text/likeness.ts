// Names that look the same to a person and are not: letters of other scripts, and digits for letters.

/** By plain letter, which others look like it: Cyrillic, Greek, phonetic signs and digits. */
const LOOK_ALIKES = {
  a: 'аαɑ',
  b: 'в',
  c: 'с',
  d: 'ԁ',
  e: 'еε',
  g: 'ɡ',
  h: 'һн',
  i: 'іιı',
  j: 'ј',
  k: 'кκ',
  l: 'ℓ1',
  m: 'м',
  n: 'ո',
  o: 'оο0',
  p: 'рρ',
  s: 'ѕ',
  t: 'тτ',
  u: 'υ',
  v: 'ν',
  x: 'х',
  y: 'у',
};
const LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([plain, others]) => Array.from(others, (other) => [other, plain] as const)),
);

/** The same for all names that can be taken for each other. Case counts, except that a capital I looks like an l. */
export function likenessOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return plain.replaceAll(/./gsu, (one) => LIKE.get(one) ?? LIKE.get(one.toLowerCase()) ?? (one === 'I' ? 'l' : one));
}
