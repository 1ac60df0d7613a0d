// What is to change in a client's file. Each format has a function that changes the text (splice-json.ts, splice-yaml.ts, splice-toml.ts).
export interface ClientEdit {
  format: 'json' | 'yaml' | 'toml';
  /** Where the servers stand. */
  key: readonly string[];
  /** They are a list of objects with a "name". */
  isList: boolean;
  remove: readonly string[];
  add: readonly (readonly [name: string, value: Record<string, unknown>])[];
  /** A list of names, of JSON, that what is added must be in, if the file has it. */
  allowList?: readonly string[] | undefined;
}

/** The line end that a text uses. */
export function lineEndOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
