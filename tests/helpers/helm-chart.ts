// Renders a Helm chart that uses the few words of its templates that ours needs, and refuses all others: `helm` itself is not among the tools of the tests.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

type Values = Record<string, any>;

interface Part {
  /** Text, or the words of an action. */
  text?: string;
  action?: string;
}

export type Resource = { kind: string; apiVersion: string; metadata: Record<string, any>; [member: string]: any };

/** All resources of the chart, by kind. `values` replace those of values.yaml. */
export function renderChart(folder: string, release: string, values: Values = {}): Map<string, Resource> {
  const defaults = parse(readFileSync(join(folder, 'values.yaml'), 'utf8')) as Values;
  const scope = { Values: merged(defaults, values), Release: { Name: release } };
  const resources = new Map<string, Resource>();
  for (const name of readdirSync(join(folder, 'templates')).toSorted()) {
    const text = render(partsOf(readFileSync(join(folder, 'templates', name), 'utf8')), scope);
    for (const document of parseAllDocuments(text, { uniqueKeys: true })) {
      if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]!.message}\n${text}`);
      const resource = document.toJS() as Resource | null;
      if (!resource) continue;
      if (resources.has(resource.kind)) throw new Error(`${name}: a second ${resource.kind}`);
      resources.set(resource.kind, resource);
    }
  }
  return resources;
}

function merged(below: Values, above: Values): Values {
  const isPlain = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const both = Object.entries(above).map(([key, value]) => {
    if (!(key in below)) throw new Error(`values.yaml has no ${key}`);
    return [key, isPlain(value) && isPlain(below[key]) ? merged(below[key], value) : value];
  });
  return { ...below, ...Object.fromEntries(both) };
}

/** Text and actions in turns; `{{-` and `-}}` take the white space beside them away. */
function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let rest = template;
  for (;;) {
    const found = /\{\{(-?)\s*(.*?)\s*(-?)\}\}/s.exec(rest);
    if (!found) return [...parts, { text: rest }];
    const [whole, trimsBefore, action, trimsAfter] = found;
    const before = rest.slice(0, found.index);
    parts.push({ text: trimsBefore ? before.trimEnd() : before }, { action: action! });
    rest = rest.slice(found.index + whole.length);
    if (trimsAfter) rest = rest.trimStart();
  }
}

function render(parts: Part[], scope: object): string {
  let text = '';
  /** Whether each open `if` shows what is in it. */
  const shows: boolean[] = [];
  for (const part of parts) {
    const isShown = shows.every(Boolean);
    if (part.text !== undefined) {
      if (isShown) text += part.text;
      continue;
    }
    const [word, ...words] = part.action!.split(' ');
    if (word === 'if') shows.push(isTrue(words, scope));
    else if (word === 'else' && words.length === 0) shows.push(!shows.pop()!);
    else if (word === 'end') shows.pop();
    else if (isShown) text += valueOf(part.action!, scope);
  }
  if (shows.length > 0) throw new Error('an "if" has no "end"');
  return text;
}

function isTrue([first, second]: string[], scope: object): boolean {
  if (first === 'not') return !lookUp(second!, scope);
  return Boolean(lookUp(first!, scope));
}

function valueOf(action: string, scope: object): string {
  const yaml = /^toYaml (\.\S+) \| nindent (\d+)$/.exec(action);
  if (yaml) {
    const lines = stringify(lookUp(yaml[1]!, scope)).trimEnd().split('\n');
    return lines.map((line) => `\n${' '.repeat(Number(yaml[2]))}${line}`).join('');
  }
  const sum = /^add (\.\S+) (\d+)$/.exec(action);
  if (sum) return String(Number(lookUp(sum[1]!, scope)) + Number(sum[2]));
  if (/^\.[\w.]+$/.test(action)) return String(lookUp(action, scope));
  throw new Error(`the template uses {{ ${action} }}, which this test cannot render`);
}

function lookUp(path: string, scope: object): unknown {
  let found: any = scope;
  for (const name of path.split('.').slice(1)) {
    if (typeof found !== 'object' || found === null || !(name in found)) throw new Error(`there is no ${path}`);
    found = found[name];
  }
  return found;
}
