// `npm run bench -- [server] [gateway] [wrap] [flows] [guard] [logins] [tools] [--quick|--short] [--only …] [--write]`: one bench or all, one after the other, because two
// at once would measure each other.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BENCHES = ['server', 'gateway', 'wrap', 'flows', 'guard', 'logins', 'tools'];
/** Only by name: it needs another build. */
const ON_REQUEST = ['before'];

const given = process.argv.slice(2);
const all = [...BENCHES, ...ON_REQUEST];
const named = all.filter((name) => given.includes(name));
const args = given.filter((word) => !all.includes(word));
for (const name of named.length > 0 ? named : BENCHES) {
  const program = fileURLToPath(new URL(`run-${name}.mjs`, import.meta.url));
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
