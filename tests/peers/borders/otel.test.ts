// The official OpenTelemetry SDK in the process of `parley serve`, registered by the recipe of docs/observing.md. Its API is an older copy than the one that
// Parley is built with, as a user's usually is: one of the two found nothing, without a word.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { connect, createLog } from '../../../src/_entries/index.ts';
import { ROOT } from '../../helpers/files.ts';
import { WEATHER, homesOfTests } from '../../helpers/parley.ts';
import { until } from '../../helpers/until.ts';

const REGISTER = fileURLToPath(new URL('servers/otel.mjs', import.meta.url));
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SERVER = 1;
const CLIENT = 2;
const { newHome, start } = homesOfTests();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Of the API that a folder has. */
function versionOf(folder: string): string {
  const manifest = join(folder, 'node_modules', '@opentelemetry', 'api', 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

type Line = Record<string, any>;

function otelFile(): { path: string; lines: () => Line[] } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-otel-'));
  folders.push(folder);
  const path = join(folder, 'otel.jsonl');
  const lines = (): Line[] => {
    try {
      return readFileSync(path, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    } catch {
      return []; // nothing is recorded yet
    }
  };
  return { path, lines };
}

test('the spans and durations of `serve` reach an SDK that brings an older API, below the trace of the client', async () => {
  expect(versionOf(join(dirname(REGISTER), '..', '..'))).not.toBe(versionOf(ROOT));
  const home = newHome();
  const config = home.write('parley.config.json', {
    mcpServers: { weather: WEATHER },
    listen: { port: 0, open: true },
  });
  const { path, lines } = otelFile();
  const parley = start(home, ['serve', config], { NODE_OPTIONS: `--import ${REGISTER}`, OTEL_FILE: path });
  const client = await connect(await parley.url(), { log: createLog({ level: 'silent' }) });
  const [{ name }] = (await client.listTools()) as [{ name: string }];
  await client
    .callTool(name, {}, { trace: { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` } } as object)
    .catch(() => {});
  const spans = await until('the spans of the call', () => {
    const found = lines().filter((line) => String(line.span).startsWith('mcp tools/call'));
    return found.length >= 2 ? found : undefined;
  });
  const [served, sent] = [spans.find(({ kind }) => kind === SERVER)!, spans.find(({ kind }) => kind === CLIENT)!];
  expect(sent.parent).toBe(served.spanId);
  expect(sent.traceId).toBe(served.traceId);
  expect(sent.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'parley.server': 'weather' });
  const measured = await until('the durations of the call', () => {
    const found = lines().filter(({ metric, attributes }) => metric && attributes['mcp.method.name'] === 'tools/call');
    return new Set(found.map(({ metric }) => metric)).size === 2 ? found : undefined;
  });
  expect(new Set(measured.map(({ metric }) => metric))).toEqual(
    new Set(['mcp.server.operation.duration', 'mcp.client.operation.duration']),
  );
  expect(measured[0]).toMatchObject({ unit: 's', attributes: { 'gen_ai.operation.name': 'execute_tool' } });
  expect(Object.keys(measured[0].attributes)).not.toContain('gen_ai.tool.name');
  await client.close();
});

test('`serve` says that no SDK is there where a configuration asks for traces', async () => {
  const home = newHome();
  const config = home.write('parley.config.json', {
    mcpServers: { weather: WEATHER },
    listen: { port: 0, open: true },
    observe: { tracing: true },
  });
  const parley = start(home, ['serve', config]);
  await parley.url();
  await until('the warning', () => parley.stderr.includes('tracing.no-sdk'));
});
