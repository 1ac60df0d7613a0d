// A metric with its values, in the Prometheus model.
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
