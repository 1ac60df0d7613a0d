// Random programs for the replay engine: concurrency, branches, loops, races, errors, and shared state, so that any
// difference in order changes what the program does next.
import type { Ask } from '../../src/flow/authoring/ask.ts';

export type Random = () => number;

export type Program =
  | { op: 'ask'; key: string; kind: 'text' | 'confirm' | 'number' }
  | { op: 'step'; key: string }
  | { op: 'ticks'; count: number }
  | { op: 'world' }
  | { op: 'seq' | 'all' | 'race' | 'settled'; parts: Program[] }
  | { op: 'if'; modulo: number; yes: Program; no: Program }
  | { op: 'loop'; times: number; body: Program }
  | { op: 'try'; body: Program; handler: Program };

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomProgram(random: Random): Program {
  let keys = 0;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  // Reuses some keys on purpose.
  const key = (prefix: string) => `${prefix}${random() < 0.8 ? keys++ : Math.floor(random() * (keys + 1))}`;
  const some = (depth: number) => Array.from({ length: 1 + Math.floor(random() * 3) }, () => make(depth));
  const make = (depth: number): Program => {
    const roll = random();
    if (depth <= 0 || roll < 0.3) {
      const leaf = random();
      if (leaf < 0.45) return { op: 'ask', key: key('q'), kind: pick(['text', 'confirm', 'number']) };
      if (leaf < 0.75) return { op: 'step', key: key('s') };
      return leaf < 0.9 ? { op: 'ticks', count: Math.floor(random() * 6) } : { op: 'world' };
    }
    if (roll < 0.5) return { op: 'seq', parts: some(depth - 1) };
    if (roll < 0.65) return { op: 'all', parts: some(depth - 1) };
    if (roll < 0.72) return { op: 'race', parts: some(depth - 1) };
    if (roll < 0.77) return { op: 'settled', parts: some(depth - 1) };
    if (roll < 0.88)
      return { op: 'if', modulo: 2 + Math.floor(random() * 2), yes: make(depth - 1), no: make(depth - 1) };
    if (roll < 0.94) return { op: 'loop', times: 1 + Math.floor(random() * 3), body: make(depth - 1) };
    return { op: 'try', body: make(depth - 1), handler: make(depth - 1) };
  };
  return { op: 'seq', parts: [make(3), make(3), make(2)] };
}

/** Runs a program and logs everything in order. */
export async function play(program: Program, ask: Ask, log: string[]): Promise<void> {
  const questions = ask as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const sum = () => log.reduce((all, word) => (all * 31 + word.length + word.charCodeAt(word.length - 1)) % 9973, 7);
  const run = async (part: Program): Promise<void> => {
    switch (part.op) {
      case 'ask':
        log.push(`${part.key}=${String(await questions[part.kind]!(part.key, { required: false }))}`);
        break;
      case 'step':
        log.push(`${part.key}:${String(await questions['step']!(part.key, () => 'never run here'))}`);
        break;
      case 'ticks':
        for (let at = 0; at < part.count; at++) await Promise.resolve();
        log.push(`t${part.count}`);
        break;
      case 'world':
        log.push(`w${Date.now() % 1000}${Math.random().toFixed(3)}${ask.uuid().slice(0, 4)}`);
        break;
      case 'seq':
        for (const one of part.parts) await run(one);
        break;
      case 'all':
        await Promise.all(part.parts.map(run));
        break;
      case 'race':
        await Promise.race(part.parts.map(run));
        log.push('won');
        break;
      case 'settled':
        log.push((await Promise.allSettled(part.parts.map(run))).map(({ status }) => status[0]).join(''));
        break;
      case 'if':
        await run(sum() % part.modulo === 0 ? part.yes : part.no);
        break;
      case 'loop':
        for (let at = 0; at < part.times; at++) await run(part.body);
        break;
      case 'try':
        try {
          await run(part.body);
        } catch (thrown) {
          log.push(`caught ${(thrown as Error).message}`);
          await run(part.handler);
        }
        break;
    }
  };
  await run(program);
}
