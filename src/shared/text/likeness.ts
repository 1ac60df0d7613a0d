// Names that look the same to a person and are not: letters of other scripts, and digits for letters.

const LIKE: Readonly<Record<string, string>> = {
  ...{
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    у: 'y',
    х: 'x',
    і: 'i',
    ј: 'j',
    ѕ: 's',
    һ: 'h',
    ԁ: 'd',
    ո: 'n',
    к: 'k',
    м: 'm',
    т: 't',
    в: 'b',
    н: 'h',
  },
  ...{ α: 'a', ο: 'o', ρ: 'p', ν: 'v', ι: 'i', κ: 'k', τ: 't', υ: 'u', ε: 'e' },
  ...{ ı: 'i', ɡ: 'g', ɑ: 'a', ℓ: 'l', '0': 'o', '1': 'l' },
};

/** The same for all names that can be taken for each other. Case counts, except that a capital I looks like an l. */
export function likenessOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return plain.replaceAll(/./gsu, (one) => LIKE[one] ?? LIKE[one.toLowerCase()] ?? (one === 'I' ? 'l' : one));
}
