// What a secret looks like when nobody has said: the tokens of well-known services, and the names of what holds one.

/** What comes before must not be part of the same word: sealed texts of ours may hold any letters. */
export const SECRET_PATTERNS: string[] = [
  '(?<![\\w-])(?:AKIA|ASIA)[0-9A-Z]{16}\\b',
  '(?<![\\w-])(?:gh[pousr]_\\w{36,}|github_pat_\\w{22,}|glpat-[\\w-]{20,})',
  '(?<![\\w-])(?:sk-[\\w-]{20,}|xox[abeoprs]-[\\w-]{10,}|AIza[\\w-]{35})',
  '(?<![\\w-])eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]+',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----',
];

/** Globs over names of arguments. Too many rather than too few: the person who is asked still sees that there is something. */
export const SECRET_KEYS: string[] = [
  '*password*',
  '*passphrase*',
  '*passwd*',
  '*secret*',
  '*token',
  '*credential*',
  '*api_key',
  '*api-key',
  '*apikey',
  '*private_key',
  '*private-key',
  '*privatekey',
  '*authorization',
  '*cookie*',
];
