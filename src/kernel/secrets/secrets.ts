// The secrets that this process knows, and the mask that removes them from what Parley itself writes: errors, log, status, audit log. Never used on
// results, which pass unchanged. Invariants:
// 1. Masking happens only when something is written: a call that succeeds costs nothing.
// 2. What a client sent is not masked when it is quoted back: the difference would tell whether a guess was right.
import { MAX_PASSING_SECRETS } from '../base/limits.ts';

export const MASKED = '[redacted]';

/** Shorter values are found only as whole words: a few letters in a row occur by chance. Letters mixed with digits do so less often. */
const LONG = 8;
const LONG_IF_MIXED = 6;
/** Shorter ones are not masked. */
const SHORTEST = 4;
/** Signed tokens (JWT), from anybody. */
const SIGNED = String.raw`(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+`;
/** What follows the name of a scheme, as a server may print it: `Authorization: Bearer …`. Not words about it, nor parameters of a challenge. */
const ABOUT = String.raw`(?:(?:access|and|are|auth|authentication|authorization|challenge|credentials?|for|format|headers?|in|is|login|must|needed|not|or|realm|required|schemes?|tokens?|was|with|[A-Z_]+)(?![\w~+/=-])|[\w-]+=["']|\$\{|…|\[redacted)`;
const PRESENTED = String.raw`(?<=\b(?:[Bb]earer|BEARER|[Bb]asic|BASIC|DPoP|dpop)[ \t]{1,4}["']?)(?!${ABOUT})[^\s"',;<>]{4,}`;
/** Members and parameters that hold nothing else. */
const NAMED = String.raw`(?<=(?:access_token|refresh_token|id_token|client_secret|client_assertion|api_key|apikey|password)["']?(?:=|: ?["']))[^\s"',;&<>]{4,}`;
/** Keys of well-known services. */
const ISSUED = String.raw`(?<![\w-])(?:sk-[\w-]{16,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|xox[abprs]-[\w-]{10,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{16})`;

export class Secrets {
  /** Of the configuration. */
  readonly #lasting = new Set<string>();
  /** Tokens, which are replaced over time; the oldest are forgotten. */
  readonly #passing = new Set<string>();
  #pattern: RegExp | undefined;

  add(value: string): void {
    if (value.length < SHORTEST || this.#lasting.has(value)) return;
    this.#lasting.add(value);
    this.#pattern = undefined;
  }

  addPassing(value: string | undefined): void {
    if (value === undefined || value.length < LONG || this.#passing.has(value)) return;
    this.#passing.add(value);
    if (this.#passing.size > MAX_PASSING_SECRETS) this.#passing.delete(this.#passing.values().next().value!);
    this.#pattern = undefined;
  }

  clear(): void {
    this.#lasting.clear();
    this.#passing.clear();
    this.#pattern = undefined;
  }

  mask(text: string): string {
    if (text.length < SHORTEST) return text;
    this.#pattern ??= toPattern([...this.#lasting, ...this.#passing]);
    return text.replace(this.#pattern, MASKED);
  }

  /** Masks all texts inside. A value without secrets is returned unchanged: a copy would lose how its numbers were written. */
  maskDeep<T>(value: T): T {
    if (typeof value === 'string') return this.mask(value) as T;
    if (typeof value !== 'object' || value === null) return value;
    const isList = Array.isArray(value);
    if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return value;
    const entries = Object.entries(value).map(([key, inner]) => [key, this.maskDeep(inner) as unknown] as const);
    if (entries.every(([key, inner]) => inner === (value as Record<string, unknown>)[key])) return value;
    return (isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)) as T;
  }
}

/** The secrets of this process. All its gateways share them, because each alone would not hide those of the others. */
export const secrets: Secrets = new Secrets();

function toPattern(values: string[]): RegExp {
  const long = new Set(values.filter(isDistinct).flatMap(spellings));
  const short = values.filter((value) => !isDistinct(value));
  const longest = [...long].sort((a, b) => b.length - a.length).map(escape);
  const alone = short.length === 0 ? [] : [`(?<!\\w)(?:${short.map(escape).join('|')})(?!\\w)`];
  return new RegExp([...longest, SIGNED, ISSUED, PRESENTED, NAMED, ...alone].join('|'), 'g');
}

function isDistinct(value: string): boolean {
  return value.length >= LONG || isMixed(value);
}

/** Short, and hardly a word: letters and digits together. */
export function isMixed(value: string): boolean {
  return value.length >= LONG_IF_MIXED && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** The value as it may be written in a text, in JSON, in a URL and in base64. */
function spellings(value: string): string[] {
  const inUrl = encodeURIComponent(Buffer.from(value).toString()); // half of a surrogate pair would throw
  const lower = inUrl.replaceAll(/%\w\w/g, (byte) => byte.toLowerCase());
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    inUrl,
    lower,
    new URLSearchParams([['', value]]).toString().slice(1),
    ...[0, 1, 2].flatMap((before) => inBase64(value, before)),
  ];
}

/** Without the characters at both ends that depend on what stands `before` (bytes, modulo three) and behind the value. */
function inBase64(value: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  const whole = Math.floor((bytes.length * 8) / 6);
  const core = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), whole);
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
