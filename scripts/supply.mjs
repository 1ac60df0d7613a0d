// Checks what the package is made of: licences, integrity and install scripts of everything that is installed with it, and known holes where the
// registry can be asked. `--sbom FILE` also writes a CycloneDX bill of materials. The last line counts, as in every stage of .ci/run.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const LICENCES = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
]);
const AUDIT_MS = 30_000;

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8'));
const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
const problems = [
  ...installed.flatMap(([path, { license, integrity, hasInstallScript }]) => [
    ...(LICENCES.has(license) ? [] : [`${path}: the licence is ${license ?? 'not named'}`]),
    ...(integrity ? [] : [`${path}: the lock has no integrity`]),
    ...(hasInstallScript ? [`${path}: it runs a script when it is installed`] : []),
  ]),
  ...Object.entries({ ...dependencies, ...optionalDependencies }).flatMap(([name, range]) =>
    /^\d/.test(range) ? [`${name}: ${range} is an exact version, so users get its fixes only with ours`] : [],
  ),
  ...knownHoles(),
];

const at = process.argv.indexOf('--sbom');
if (at !== -1) writeFileSync(process.argv[at + 1], sbom());
for (const problem of problems) console.error(problem);
console.log(`${installed.length} packages are installed with this one.`);
console.log(`${problems.length === 0 ? 1 : 0} passed, ${problems.length} failed, 0 skipped`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Nothing where the registry does not answer: a red stage must mean a hole. */
function knownHoles() {
  const { stdout } = npm(['audit', '--omit=dev', '--json']);
  try {
    const { metadata, vulnerabilities = {} } = JSON.parse(stdout);
    if (!metadata) throw new Error('no report');
    const bad = Object.values(vulnerabilities).filter(({ severity }) => severity === 'high' || severity === 'critical');
    return bad.map(({ name, severity, range }) => `${name} ${range}: a known hole, ${severity}`);
  } catch {
    console.log('npm audit: the registry gave no report; known holes were not looked for.');
    return [];
  }
}

function sbom() {
  const { status, stdout } = npm(['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev']);
  if (status !== 0) throw new Error('npm sbom failed');
  return stdout;
}

function npm(args) {
  return spawnSync('npm', args, {
    encoding: 'utf8',
    timeout: AUDIT_MS,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
}
