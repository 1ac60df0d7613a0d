// Writes metrics in the text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats.
import type { Family } from '../../shared/metric.ts';

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
