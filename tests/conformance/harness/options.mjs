// Reads the command line. Paths are relative to the current folder; everything else runs at the root of the project.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './paths.mjs';
import { REVISIONS } from './scenarios.mjs';

const LEGS = ['server', 'client', 'gateway', 'through', 'sdk'];
const UPSTREAMS = ['stdio', 'http'];

export function readOptions() {
  const { values } = parseArgs({
    options: {
      server: { type: 'boolean' },
      client: { type: 'boolean' },
      gateway: { type: 'boolean' },
      through: { type: 'boolean' },
      sdk: { type: 'boolean' },
      write: { type: 'boolean' },
      scenario: { type: 'string' },
      revision: { type: 'string' },
      upstream: { type: 'string' },
      towards: { type: 'string' },
      sut: { type: 'string' },
      json: { type: 'string' },
      replicas: { type: 'string' },
    },
  });
  const { scenario, revision, upstream, towards, sut, json, replicas } = values;
  const named = LEGS.filter((leg) => values[leg]);
  const isPart = [scenario, revision, upstream, towards, sut, replicas].some((value) => value !== undefined);
  if (values.write && isPart) throw new Error('--write: the page is written from a whole run, without a selection');
  const paths = { json: json && resolve(json) };
  process.chdir(ROOT);
  return {
    scenario,
    sut,
    isPart,
    replicas,
    ...paths,
    write: values.write === true,
    has: (leg) =>
      named.length === 0 ? sut === undefined || leg === 'server' || leg === 'client' : named.includes(leg),
    revisions: oneOf('revision', revision, REVISIONS),
    sdkGateways: oneOf('upstream', upstream, UPSTREAMS).map((one) => ({
      upstream: one,
      server: 'SDK v2',
    })),
    gateways: oneOf('upstream', upstream, UPSTREAMS).flatMap((one) =>
      oneOf('towards', towards, REVISIONS).map((server) => ({
        upstream: one,
        server,
      })),
    ),
  };
}

function oneOf(name, value, known) {
  if (value === undefined) return known;
  if (!known.includes(value)) throw new Error(`--${name}: one of ${known.join(', ')}, not ${value}`);
  return [value];
}
