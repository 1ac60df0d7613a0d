// The parser of TOML, loaded when a text needs it, and the paths that short texts name.

/** The part of smol-toml that is used. */
export interface TomlParser {
  parse(text: string): Record<string, unknown>;
}

export function loadTomlParser(): TomlParser {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url)('smol-toml') as TomlParser;
}

/** The only path in a short text; empty if it is not TOML, such as a line of a longer value. */
export function pathInToml(toml: TomlParser, text: string): string[] {
  const path: string[] = [];
  try {
    let inner: unknown = toml.parse(text);
    while (typeof inner === 'object' && inner !== null && Object.keys(inner).length === 1) {
      const [[key, value]] = Object.entries(inner) as [[string, unknown]];
      path.push(key);
      inner = value;
    }
  } catch {
    return [];
  }
  return path;
}
