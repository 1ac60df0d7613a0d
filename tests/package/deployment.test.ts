// The files of examples/ that run Parley somewhere else fit together, and their configurations are ones that Parley takes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { renderChart } from '../helpers/helm-chart.ts';
import type { Resource } from '../helpers/helm-chart.ts';

const example = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const CHART = example('kubernetes/parley');
const ENVIRONMENT = {
  env: { PARLEY_KEY: 'a'.repeat(44), OWN_IP: '10.0.0.7', POD_IP: '10.0.0.7', GITHUB_TOKEN: 'x' },
  cwd: '/',
  home: '/nowhere',
};
const folder = mkdtempSync(join(tmpdir(), 'parley-deployment-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What Parley has against a configuration. */
function problemsOf(path: string): string[] {
  const { config, problems } = loadConfig(path, ENVIRONMENT);
  expect(config ?? problems.length).toBeTruthy();
  return problems.map((problem) => JSON.stringify(problem));
}

function configOf(chart: Map<string, Resource>): { text: string; path: string } {
  const text = chart.get('ConfigMap')!.data['parley.config.yaml'] as string;
  const path = join(folder, 'parley.config.yaml');
  writeFileSync(path, text);
  return { text, path };
}

describe('the Helm chart', () => {
  const several = renderChart(CHART, 'gate', {
    autoscaling: { enabled: true },
    ingress: { enabled: true },
  });

  it('the chart makes everything that a cluster needs, with resources of Kubernetes alone', () => {
    expect([...several.keys()].toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
    ]);
    const groups = [...several.values()].map(({ apiVersion }) => apiVersion);
    expect(
      groups.filter((one) => !/^(v1|(apps|policy)\/v1|autoscaling\/v2|networking\.k8s\.io\/v1)$/.test(one)),
    ).toEqual([]);
    for (const { metadata } of several.values()) expect(metadata.name).toBe('gate');
  });

  it('all resources of the chart select the pods of one release, and name ports that exist', () => {
    const { spec } = several.get('Deployment')!;
    const { labels } = spec.template.metadata;
    expect(spec.selector.matchLabels).toEqual(labels);
    expect(several.get('Service')!.spec.selector).toEqual(labels);
    expect(several.get('PodDisruptionBudget')!.spec.selector.matchLabels).toEqual(labels);
    const policy = several.get('NetworkPolicy')!.spec;
    expect(policy.podSelector.matchLabels).toEqual(labels);
    expect(policy.ingress[1].from).toEqual([{ podSelector: { matchLabels: labels } }]);
    const [{ ports, readinessProbe, livenessProbe }] = spec.template.spec.containers;
    const names = ports.map(({ name }: { name: string }) => name);
    for (const { ports: allowed } of policy.ingress) expect(names).toContain(allowed[0].port);
    for (const probe of [readinessProbe, livenessProbe]) expect(names).toContain(probe.httpGet.port);
    expect(several.get('Service')!.spec.ports[0].targetPort).toBe('http');
    expect(several.get('HorizontalPodAutoscaler')!.spec.scaleTargetRef).toMatchObject({
      kind: 'Deployment',
      name: 'gate',
    });
    expect(several.get('Ingress')!.spec.rules[0].http.paths[0].backend.service.name).toBe('gate');
  });

  it('the chart gives a gateway time to finish its calls, no rights, and no file system to write but its own folders', () => {
    const { spec } = several.get('Deployment')!.spec.template;
    const [container] = spec.containers;
    expect(spec.terminationGracePeriodSeconds).toBe(40);
    expect(container.lifecycle.preStop.exec.command).toEqual(['sleep', '5']);
    expect(container.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
    expect(spec.securityContext.runAsNonRoot).toBe(true);
    const volumes = spec.volumes.map(({ name }: { name: string }) => name);
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
    const mounted = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    const env = Object.fromEntries(container.env.map(({ name, value }: any) => [name, value]));
    expect(mounted).toContain(env.XDG_STATE_HOME);
    expect(dirname(container.args.at(-1))).toBe(env.PARLEY_TRUST);
  });

  it('the chart replaces gateways that share a state one after the other, and never has two with one volume', () => {
    const one = renderChart(CHART, 'gate', { redis: '' });
    expect(several.get('Deployment')!.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(several.get('Deployment')!.spec).not.toHaveProperty('replicas'); // left to the autoscaler
    expect(renderChart(CHART, 'gate').get('Deployment')!.spec.replicas).toBe(3);
    expect(one.get('Deployment')!.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect([...one.keys()].toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'Service',
    ]);
    expect(configOf(one).text).not.toMatch(/state:|cluster:/);
  });

  it('the chart writes configurations that Parley takes', () => {
    expect(problemsOf(configOf(renderChart(CHART, 'gate', { redis: '' })).path)).toEqual([]);
    const { text, path } = configOf(several);
    expect(parse(text)).toMatchObject({
      listen: { host: '0.0.0.0', port: 8470 },
      keys: ['${PARLEY_KEY}'],
      cluster: { listen: 8471, advertise: 'http://${POD_IP}:8471' },
    });
    expect(problemsOf(path)).toEqual([]);
  });

  it('a misspelt value of the chart is an error', () => {
    expect(() => renderChart(CHART, 'gate', { replica: 2 })).toThrow('values.yaml has no replica');
  });
});

describe('the files of Docker Compose', () => {
  const compose = parse(readFileSync(example('compose/compose.yaml'), 'utf8'), { merge: true });
  const haproxy = readFileSync(example('compose/haproxy.cfg'), 'utf8');

  it('compose starts three gateways, and HAProxy balances between just these', () => {
    const behind = [...haproxy.matchAll(/^ {2}server (\w+) (\w+):8470/gm)].map(([, name, host]) => [name, host]);
    expect(behind).toEqual([
      ['one', 'one'],
      ['two', 'two'],
      ['three', 'three'],
    ]);
    for (const [name] of behind) expect(compose.services[name!].stop_grace_period).toBe('35s');
    expect(haproxy).toMatch(/balance roundrobin/);
    expect(haproxy).not.toMatch(/stick|cookie/);
    expect(compose.services.redis.command).toEqual(expect.arrayContaining(['noeviction', '--appendonly']));
  });

  it('the configuration for compose is one that Parley takes', () => {
    expect(problemsOf(example('compose/parley.config.jsonc'))).toEqual([]);
  });
});

describe('the file for launchd', () => {
  it('the file for launchd is well-formed, and ends the gateway later than it finishes its calls', () => {
    const text = readFileSync(example('service/com.mcp-parley.gateway.plist'), 'utf8');
    const open: string[] = [];
    for (const [, isEnd, name, isEmpty] of text
      .replaceAll(/<!--.*?-->/gs, '')
      .matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
      if (isEnd) expect(open.pop()).toBe(name);
      else if (!isEmpty) open.push(name!);
    }
    expect(open).toEqual([]);
    expect(Number(/<key>ExitTimeOut<\/key><integer>(\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(30);
  });
});
