// What a command of a feature gets from the program that runs it. src/cli/command-tools.ts makes them.
import type { State } from '../state/state.ts';
import type { Printer } from './printer.ts';

export interface CommandTools {
  readonly print: Printer;
  /** This program, as its user typed it. */
  readonly program: string;
  /** A path as the user would write it. */
  readonly displayPath: (path: string) => string;
  /** One question to the user; anything but yes is no. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Resolves when the user ends the command. */
  readonly ended: () => Promise<unknown>;
  /** False if there is nobody to see it. */
  readonly openBrowser: (link: string) => boolean;
  /** The path of the named configuration, or of the one that is found here. */
  readonly findConfig: (named: string | undefined) => string | undefined;
  /** The keys of a configuration as they are written; undefined if it cannot be read. */
  readonly readConfig: (path: string) => object | undefined;
  /** Undefined if it cannot be used; the reason has been printed. */
  readonly loadConfig: (named: string | undefined) => UsableConfig | undefined;
  /** What the gateways of this configuration share. Undefined if it cannot be opened; the reason has been printed. */
  readonly openState: (named: string | undefined) => Promise<OpenedState | undefined>;
  /** A running gateway of this user: the one with this process id, else the one that serves this configuration, else the newest. */
  readonly findGateway: (wanted: { pid: number | undefined; config: string | undefined }) => Promise<GatewayFinding>;
}

export interface OpenedState {
  /** To be closed. Undefined: they share nothing. */
  readonly state?: State | undefined;
  /** For messages: where it is. */
  readonly place?: string | undefined;
}

export interface UsableConfig {
  /** The names of all servers that are not disabled. */
  readonly servers: readonly string[];
  /** Its keys, checked and in their normal form: each feature knows its own. */
  readonly keys: object;
}

export interface GatewayFinding {
  found: ReachableGateway | undefined;
  /** No gateway was found, and the reason has been printed. */
  isTold: boolean;
}

export interface ReachableGateway {
  /** The path of its configuration, or what `parley wrap` stands before. */
  readonly serves: string;
  readonly url?: string | undefined;
  readonly publicUrl?: string | undefined;
  /** A link that lets one browser into its console, once; undefined without a console. */
  readonly consoleLink: () => Promise<string | undefined>;
}
