// How a step is written: "log", { "filter": { "deny": ["*"] } }, "./rules/mine.ts", or { "./rules/mine.ts": { … } }.
export interface WrittenStep {
  name: string;
  options: Record<string, unknown>;
}

export function toStep(written: string | Record<string, unknown>): WrittenStep {
  if (typeof written === 'string') return { name: written, options: {} };
  const [[name, options] = ['', {}]] = Object.entries(written);
  return { name, options: (options ?? {}) as Record<string, unknown> };
}

/** A path, not the name of a built-in. */
export function isStepFile(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/** The files that steps come from. */
export function stepFilesOf({ steps }: { steps: readonly object[] }): string[] {
  return steps.flatMap((step) => Object.keys(step)).filter(isStepFile);
}
