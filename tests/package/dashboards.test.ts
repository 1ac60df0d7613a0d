// The dashboard and the alerts of examples/observe ask for metrics and labels that a gateway really has: a renamed metric would leave an empty panel, and an
// alert that never fires.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connect, createAuditLog, createGateway, createLog, createServer } from 'mcp-parley';

const log = createLog({ level: 'silent' });
const read = (name: string): string => readFileSync(new URL(`../../examples/observe/${name}`, import.meta.url), 'utf8');
const DASHBOARD = JSON.parse(read('grafana-dashboard.json')) as {
  panels: { id: number; title: string; type: string; targets?: { expr: string; legendFormat: string }[] }[];
};
const ALERTS = parse(read('alerts.yml')) as {
  groups: { rules: { alert: string; expr: string; labels: object; annotations: Record<string, string> }[] }[];
};
const RULES = ALERTS.groups.flatMap(({ rules }) => rules);

/** Of Prometheus itself. */
const OUTSIDE = ['up'];
/** What a metric has before anything was counted is in its TYPE line only; these are the labels that it will have. */
const LABELS_LATER: Record<string, string[]> = {
  parley_approvals_total: ['outcome'],
  parley_definition_changes_total: ['server', 'outcome'],
};
const ADDED_BY_PROMETHEUS = ['job', 'instance'];

/** The names of metrics in an expression, with the labels that it wants of each. */
function metricsOf(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b((?:parley|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g)].map(([, name, labels = '']) => ({
    name: name!,
    labels: [...labels.matchAll(/(\w+)\s*[=!]~?"/g)].map(([, label]) => label!),
  }));
}

function groupingOf(expr: string): string[] {
  return [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(',').map((name) => name.trim()));
}

let metrics = '';
const folder = mkdtempSync(join(tmpdir(), 'parley-dashboards-'));

beforeAll(async () => {
  const server = createServer({ name: 'one', version: '1', log });
  server.tool('hello', {}, () => 'hello');
  const key = 'parley_a-key-for-the-dashboards';
  const audit = createAuditLog({ folder, log });
  const keys = [{ name: 'ops', key, scopes: ['admin', 'mcp'] }];
  const gateway = createGateway({
    servers: { one: server, dead: { command: 'no-such-command-anywhere' } },
    auth: { keys },
    observe: { metrics: true },
    rate: { perCaller: '2/min' },
    audit: audit.record,
    log,
  });
  const { url } = await gateway.listen({ port: 0 });
  await fetch(url, { method: 'POST', body: '{}' }); // refused
  const headers = { Authorization: `Bearer ${key}` };
  const client = await connect({ url, headers }, { log });
  for (let times = 0; times < 4; times++) await client.callTool('one__hello').catch(() => {}); // beyond the rate
  metrics = await (await fetch(url.replace('/mcp', '/metrics'), { headers })).text();
  await client.close();
  await gateway.close();
  await audit.close();
});

afterAll(() => rmSync(folder, { recursive: true }));

function isServed(name: string): boolean {
  const family = name.replace(/_(bucket|sum|count)$/, '');
  return OUTSIDE.includes(name) || [name, family].some((one) => new RegExp(`^# TYPE ${one} `, 'm').test(metrics));
}

function labelsOf(name: string): string[] {
  const lines = metrics.split('\n').filter((line) => line.startsWith(`${name}{`));
  const seen = lines.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label]) => label!));
  return [...seen, ...(LABELS_LATER[name] ?? []), ...ADDED_BY_PROMETHEUS];
}

const EXPRESSIONS: [where: string, expr: string][] = [
  ...DASHBOARD.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [`panel "${title}"`, expr]),
  ),
  ...RULES.map(({ alert, expr }): [string, string] => [`alert ${alert}`, expr]),
];

describe('the dashboard and the alerts', () => {
  it.each(EXPRESSIONS)('a gateway serves the metrics and labels of the %s', (_, expr) => {
    const used = metricsOf(expr);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter(({ name }) => !isServed(name))).toEqual([]);
    for (const { name, labels } of used) for (const label of labels) expect(labelsOf(name)).toContain(label);
    const all = used.flatMap(({ name }) => labelsOf(name));
    for (const label of groupingOf(expr)) expect([...all, 'le']).toContain(label);
  });

  it('a panel has its own id, and each legend names labels that the panel keeps', () => {
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { targets = [] } of DASHBOARD.panels) {
      for (const { expr, legendFormat } of targets) {
        const kept = groupingOf(expr);
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
        const shown = kept.length > 0 ? kept : metricsOf(expr).flatMap(({ name }) => labelsOf(name));
        for (const label of named) expect(shown).toContain(label);
      }
    }
  });

  it('an alert says how bad it is, and what it is about', () => {
    for (const { alert, labels, annotations } of RULES) {
      expect(alert).toMatch(/^Parley[A-Z]\w+$/);
      expect(labels).toMatchObject({ severity: expect.stringMatching(/^(page|ticket)$/) });
      expect(annotations.summary).toMatch(/\.$|\?$/);
    }
  });
});
