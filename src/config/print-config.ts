// Prints a normalized configuration as JSON without secrets, with short values on one line.
import type { ParleyConfig } from './config.ts';
import { redactConfig } from './redact-config.ts';

const MAX_WIDTH = 100;

export function printConfig(config: ParleyConfig, used: ReadonlyMap<string, string> = new Map()): string {
  return print(redactConfig(config, used), '');
}

function print(value: unknown, indent: string): string {
  const line = oneLine(value);
  // The top level is always expanded, so that a small configuration looks like a large one.
  if (typeof value !== 'object' || value === null || (indent !== '' && indent.length + line.length <= MAX_WIDTH))
    return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Array.isArray(value)
    ? value.map((item) => print(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${print(item, inner)}`);
  return entries.length === 0
    ? line
    : `${open}\n${entries.map((entry) => inner + entry).join(',\n')}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
