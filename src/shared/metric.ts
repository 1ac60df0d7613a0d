// A metric with its values, as Prometheus knows them.
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

export interface Sample {
  /** After the name of the family, as in `_bucket`. */
  suffix?: string;
  labels: Record<string, string>;
  value: number;
}

/** Families of the same name are one; samples with the same labels are added up. */
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
