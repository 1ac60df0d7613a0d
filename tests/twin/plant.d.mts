interface Planted {
  dist: string;
  folder: string;
}
export function plant(fault: { name: string; edits: [string, string][] }, dist: string): Planted;
export function uproot(planted: Planted): void;
