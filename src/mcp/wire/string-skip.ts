// Crosses the inside of a long JSON string 64 bytes at a time, with the vector instructions of WebAssembly: a fifth of what a loop in JavaScript
// takes. The program is assembled here, from the instructions as they are listed below, so that there is no binary to trust.
// 1. It returns a position between two characters, before or at the first byte that it cannot judge: the closing quote, a control character, an
//    unknown escape, one with four digits. Who called it looks at the rest.
// 2. It is an addition: where there is no WebAssembly, it returns the position it was given.

/** Bytes in one round of the program. */
const BLOCK = 64;
/** Copied to the memory of the program in one go: little at first, since the string may end soon. */
const FIRST_BYTES = 1024;
const MOST_BYTES = 64 * 1024;

type Skip = (from: number, to: number) => number;

interface Skipper {
  memory: Uint8Array;
  skip: Skip;
}

let skipper: Skipper | 'none' | undefined;

/** `from` is the position of a character inside a string, not the second one of an escape. */
export function skipString(bytes: Buffer, from: number): number {
  skipper ??= createSkipper();
  if (skipper === 'none') return from;
  let at = from;
  for (let most = FIRST_BYTES; ; most = Math.min(4 * most, MOST_BYTES)) {
    const length = Math.min(most, bytes.length - at);
    if (length < BLOCK) return at;
    skipper.memory.set(bytes.subarray(at, at + length));
    const crossed = skipper.skip(0, length);
    at += crossed;
    if (crossed === 0 || crossed < length - BLOCK) return at;
  }
}

/** The types of Node do not have these. */
interface WebAssemblyGlobal {
  WebAssembly: {
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object) => { exports: { memory: { buffer: ArrayBuffer }; skip: Skip } };
  };
}

function createSkipper(): Skipper | 'none' {
  try {
    const { Module, Instance } = (globalThis as unknown as WebAssemblyGlobal).WebAssembly;
    const { memory, skip } = new Instance(new Module(Uint8Array.from(assemble()))).exports;
    return { memory: new Uint8Array(memory.buffer), skip };
  } catch {
    return 'none'; // no WebAssembly, no vectors, or no memory for it
  }
}

// Instructions: the bytes of each, with what follows it.
type Code = readonly number[];
const join = (...codes: readonly Code[]): Code => codes.flat();
const LOOP: Code = [0x03, 0x40];
const IF: Code = [0x04, 0x40];
const END: Code = [0x0b];
const AGAIN: Code = [0x0c, 1]; // from within one `if`
const RETURN: Code = [0x0f];
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const tee = (local: number): Code => [0x22, local];
const int32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
const int64 = (value: bigint): Code => [0x42, ...signed(value)];
const ADD_32: Code = [0x6a];
const SUBTRACT_32: Code = [0x6b];
const IS_ABOVE_32: Code = [0x4b];
const IS_ZERO: Code = [0x50];
const IS_BELOW: Code = [0x54];
const ADD: Code = [0x7c];
const AND: Code = [0x83];
const OR: Code = [0x84];
const XOR: Code = [0x85];
const SHIFT_LEFT: Code = [0x86];
const TO_32: Code = [0xa7];
const TO_64: Code = [0xad];
const NOT: Code = [...int64(-1n), ...XOR];
const vector = (instruction: number): Code => [0xfd, ...unsigned(instruction)];
const load = (offset: number): Code => [...vector(0), 0, ...unsigned(offset)];
const constant = (bytes: readonly number[]): Code => [...vector(12), ...bytes];
const each = (byte: number): Code => constant(Array<number>(16).fill(byte));
const LOOK_UP = vector(14);
const IS_EQUAL = vector(35);
const IS_DIFFERENT = vector(36);
const IS_LESS = vector(38);
const AND_ALL = vector(78);
const XOR_ALL = vector(81);
const TO_BITS = vector(100);
const SHIFT_RIGHT_ALL = vector(109);

/** The locals: two arguments, then numbers of 64 bits, one bit for each byte of the block, then vectors. */
const [AT, TO, CARRY, CARRIED, BACKSLASHES, SPECIAL, ESCAPED, STARTS, SUMS, KNOWN] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
] as const;
const PARTS = [10, 11, 12, 13];
const HALVES = 14;
const NUMBERS = 8;
const I32 = 0x7f;
const I64 = 0x7e;
const V128 = 0x7b;
const EVEN = 0x5555555555555555n;

/** One bit for each byte of the block, by what `test` makes of a vector of 16. */
function bitsOf(test: (part: number) => Code): Code {
  return PARTS.flatMap((part, index) => [
    ...get(part),
    ...test(part),
    ...TO_BITS,
    ...TO_64,
    ...(index === 0 ? [] : [...int64(BigInt(16 * index)), ...SHIFT_LEFT, ...OR]),
  ]);
}

/** Whether a byte may follow a backslash: the two halves of it have a bit in common in these tables. */
function isKnownEscape(part: number): Code {
  const [upper, lower] = [Array<number>(16).fill(0), Array<number>(16).fill(0)];
  for (const [bit, half] of [2, 5, 6, 7].entries()) upper[half] = 1 << bit;
  for (const byte of Buffer.from('"/\\bfnrt')) lower[byte & 15]! |= upper[byte >> 4]!;
  const upperBits = [...constant(upper), ...get(HALVES), ...LOOK_UP];
  const lowerBits = [...constant(lower), ...get(part), ...each(15), ...AND_ALL, ...LOOK_UP];
  return [
    ...int32(4),
    ...SHIFT_RIGHT_ALL,
    ...set(HALVES),
    ...upperBits,
    ...lowerBits,
    ...AND_ALL,
    ...each(0),
    ...IS_DIFFERENT,
  ];
}

/**
 * A byte is escaped if an odd number of backslashes stands before it. Runs of them that begin at an odd place are made longer by a sum, whose carry says that
 * the block ends within an escape; which of the places behind a backslash are escaped then depends on whether they are even.
 */
function findEscaped(): Code {
  return [
    ...join(get(BACKSLASHES), int64(1n), SHIFT_LEFT, get(CARRIED), OR, set(ESCAPED)),
    ...join(get(BACKSLASHES), int64(~EVEN), AND, get(ESCAPED), NOT, AND, tee(STARTS)),
    ...join(get(BACKSLASHES), ADD, tee(SUMS), get(STARTS), IS_BELOW, TO_64, set(CARRY)),
    ...join(get(SUMS), int64(1n), SHIFT_LEFT, int64(EVEN), XOR, get(ESCAPED), AND, set(ESCAPED)),
  ];
}

function program(): Code {
  /** The position, or that of the backslash before it. */
  const result = [...get(AT), ...get(CARRIED), ...TO_32, ...SUBTRACT_32];
  return [
    ...LOOP,
    ...join(get(CARRY), set(CARRIED)),
    ...join(get(AT), int32(BLOCK), ADD_32, get(TO), IS_ABOVE_32, IF, result, RETURN, END),
    ...PARTS.flatMap((part, index) => [...get(AT), ...load(16 * index), ...set(part)]),
    ...bitsOf(() => join(each(0x5c), IS_EQUAL)),
    ...join(get(CARRIED), NOT, AND, set(BACKSLASHES)),
    // With 2 XORed to each byte, exactly the quote and the control characters are below 33.
    ...join(
      bitsOf(() => join(each(2), XOR_ALL, each(33), IS_LESS)),
      set(SPECIAL),
    ),
    ...findEscaped(),
    ...join(bitsOf(isKnownEscape), set(KNOWN)),
    // An escaped control character is not a known escape.
    ...join(get(SPECIAL), get(ESCAPED), NOT, AND, get(ESCAPED), get(KNOWN), NOT, AND, OR, IS_ZERO),
    ...join(IF, get(AT), int32(BLOCK), ADD_32, set(AT), AGAIN, END),
    ...join(END, result, END),
  ];
}

const HEAD: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** A module with one function and two pages of memory. */
function assemble(): number[] {
  const locals = [2, NUMBERS, I64, PARTS.length + 1, V128];
  const text = (name: string): number[] => [name.length, ...Buffer.from(name)];
  const section = (id: number, content: Code): number[] => [id, ...unsigned(content.length), ...content];
  const body = [...locals, ...program()];
  return [
    ...HEAD,
    ...section(1, [1, 0x60, 2, I32, I32, 1, I32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 2]),
    ...section(7, [2, ...text('memory'), 2, 0, ...text('skip'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ];
}

/** Seven bits in each byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: bigint): number[] {
  const [low, rest] = [Number(value & 127n), value >> 7n];
  const isLast = (rest === 0n && low < 64) || (rest === -1n && low >= 64);
  return isLast ? [low] : [low | 128, ...signed(rest)];
}
