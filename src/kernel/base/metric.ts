// Metrics with their values in the Prometheus model, and its text format: https://prometheus.io/docs/instrumenting/exposition_formats.

export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

export interface Sample {
  /** Appended to the family's name, as in `_bucket`. */
  suffix?: string;
  labels: Record<string, string>;
  value: number;
}

/** Merges families of the same name; samples with the same labels are added up. */
export function mergeFamilies(all: readonly Family[]): Family[] {
  const families = new Map<string, Family & { byLabels: Map<string, Sample> }>();
  for (const { samples, ...family } of all) {
    let sum = families.get(family.name);
    if (!sum) families.set(family.name, (sum = { ...family, samples: [], byLabels: new Map() }));
    for (const sample of samples) {
      const key = JSON.stringify([sample.suffix, Object.entries(sample.labels)]);
      const known = sum.byLabels.get(key);
      sum.byLabels.set(key, known ? { ...known, value: known.value + sample.value } : sample);
    }
  }
  return [...families.values()].map(({ byLabels, ...family }) => ({ ...family, samples: [...byLabels.values()] }));
}

export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function writeFamilies(families: readonly Family[]): string {
  return families.map(writeFamily).join('\n');
}

function writeFamily({ name, help, type, samples }: Family): string {
  const lines = samples.map(({ suffix = '', labels, value }) => `${name}${suffix}${writeLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function writeLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${text.replace(/[\\"\n]/g, escaped)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
