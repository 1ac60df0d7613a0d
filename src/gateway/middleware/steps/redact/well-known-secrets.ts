// The default patterns of secrets: tokens of well-known services, and names of arguments that hold secrets.

/** A match must start a word, because Parley's own sealed texts may contain any letters. */
export const SECRET_PATTERNS: string[] = [
  '(?<![\\w-])(?:AKIA|ASIA)[0-9A-Z]{16}\\b',
  '(?<![\\w-])(?:gh[pousr]_\\w{36,}|github_pat_\\w{22,}|glpat-[\\w-]{20,})',
  '(?<![\\w-])(?:sk-[\\w-]{20,}|xox[abeoprs]-[\\w-]{10,}|AIza[\\w-]{35})',
  '(?<![\\w-])eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]+',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----',
];

/** Globs over argument names. The list errs on the side of too many: a person still sees that the argument exists. */
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
