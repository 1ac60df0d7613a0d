// Keeps V8 from full collections that a gateway has no need of. Its heap is small; what it allocates are calls, and bytes that pass.
// 1. Only the command line does this (`tuneCollector`): the process of somebody else is not ours to tune.
// 2. Nothing depends on it: without it, everything is only slower.

/**
 * V8 marks when the memory outside of its heap has grown by as much as 8 MB since it marked last, also if all of that is garbage by now. Each byte counts
 * twice, as it came and joined.
 */
const AFTER_BYTES = 3 * 1024 * 1024;

export const FLAGS: readonly string[] = [
  // Under load many short-lived call objects survive a young collection. V8 then learns to allocate them in the old generation, where they
  // stay until a full collection, which took a third of the CPU.
  '--no-allocation-site-pretenuring',
  // Large messages are outside of the heap, but V8 counts them as part of the old generation. With a small heap, it would start marking long
  // before its limit, after every dozen results of 1 MB, which took as much CPU as all the rest.
  '--incremental-marking-soft-trigger=100',
  '--incremental-marking-hard-trigger=100',
  // A young collection of a small heap is over before other threads have begun to help, and waking them costs more than it saves.
  '--no-parallel-scavenge',
];

type Collect = (how: { type: 'minor' }) => void;

let isTuned = false;
let collect: Collect | undefined;
let bytesSince = 0;

export function tuneCollector(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of FLAGS) setFlagsFromString(flag);
  isTuned = true;
}

/** To be called for each large message: a young collection releases the ones before it, which takes V8 a third of a millisecond. */
export function countLargeMessage(bytes: number): void {
  if (!isTuned) return;
  bytesSince += bytes;
  if (bytesSince < AFTER_BYTES) return;
  bytesSince = 0;
  collect ??= findCollect();
  collect({ type: 'minor' });
}

/** V8 gives its collector to contexts that are made while the flag is set. */
function findCollect(): Collect {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--expose-gc');
  const found: unknown = process.getBuiltinModule('node:vm').runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? (found as Collect) : () => {};
}
