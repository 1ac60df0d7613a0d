// What several servers say of themselves when a client opens a session, as if they were one: capabilities and instructions.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { APPS_EXTENSION, FLOW_EXTENSION, SKILLS_EXTENSION, TASKS_EXTENSION } from '../../kernel/extensions.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { dictionary } from '../../kernel/containers/dictionary.ts';
import { withoutHidden } from '../../kernel/text/hidden.ts';

/** Extensions of several servers that the router serves as one. */
const JOINED = new Set([SKILLS_EXTENSION, TASKS_EXTENSION, FLOW_EXTENSION, APPS_EXTENSION]);

/**
 * An area or flag is present if one of them has it. An extension that several have is left out unless it is joined here: who declares an
 * extension must serve it, and the first server that knows a method is not all of them.
 */
export function mergeCapabilities(all: ServerCapabilities[]): ServerCapabilities {
  const merged = all.reduce<JsonObject>((known, one) => merge(known, one), {});
  const apart = new Set(extensionsApart(all));
  if (apart.size === 0 || !isObject(merged.extensions)) return merged;
  const { extensions, ...rest } = merged;
  const kept: JsonObject = Object.fromEntries(Object.entries(extensions).filter(([name]) => !apart.has(name)));
  const left: JsonObject = Object.keys(kept).length > 0 ? { ...rest, extensions: kept } : rest;
  return left;
}

/** Extensions that several of them have, and that nobody joins. */
export function extensionsApart(all: readonly ServerCapabilities[]): string[] {
  const names = all.flatMap((one) => Object.keys(one.extensions ?? {}));
  return [...new Set(names)].filter((name) => !JOINED.has(name) && names.indexOf(name) !== names.lastIndexOf(name));
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged: JsonObject = dictionary(a);
  for (const [key, value] of Object.entries(b)) {
    const known = merged[key];
    if (isObject(known) && isObject(value)) merged[key] = merge(known, value);
    else if (known === undefined || value === true) merged[key] = value;
  }
  return merged;
}

interface ServerInstructions {
  name: string;
  text: string;
}

/**
 * Joins the instructions of several servers, each under a heading with its name. No server can write such a heading itself: its own headings are put
 * below it, and lines that would make the line above a heading are taken as text.
 */
export function fenceInstructions(said: readonly ServerInstructions[]): string | undefined {
  if (said.length === 0) return undefined;
  return said.map(({ name, text }) => `## ${name}\n${fenced(text)}`).join('\n\n');
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

function fenced(text: string): string {
  return withoutHidden(text).split(LINE_END).map(toInnerLine).join('\n');
}

function toInnerLine(line: string): string {
  const heading = /^(\s*)(#{1,2})(?!#)/.exec(line);
  if (heading) return `${heading[1]}###${line.slice(heading[0].length)}`;
  return /^\s*(?:=+|-{2,})\s*$/.test(line) ? `\\${line.trim()}` : line;
}
