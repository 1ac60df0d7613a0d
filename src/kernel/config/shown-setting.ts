// A setting in effect, and where its value comes from, as it may be shown: secrets are masked before. Types only: pages for browsers import them.

export interface ShownSetting {
  /** Such as `servers.files.command`. */
  readonly key: string;
  /** As JSON, with references such as `${TOKEN}` in place of what they stand for. */
  readonly value: string;
  readonly from: 'default' | 'file' | 'own file' | 'command line';
  /** Where in the file, or the option of the command line; null for a default. */
  readonly place: string | null;
  /** Names of the environment variables that are in the value. */
  readonly variables: readonly string[];
}

export interface ShownSettings {
  /** The configuration; null for a gateway that a program has made. */
  readonly file: string | null;
  readonly settings: readonly ShownSetting[];
  /** Top keys that have changed in the file, and take effect at the next start. */
  readonly pending: readonly string[];
}

/** Called when somebody looks. */
export type ReadSettings = () => Promise<ShownSettings>;
