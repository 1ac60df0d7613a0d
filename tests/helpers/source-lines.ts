// Counts the lines of src without tests, contracts and fixtures: those of what was there when the house was planned (commit 12754ba), and
// those of each capability that was added since. `npx tsx tests/helpers/source-lines.ts` prints them; sizes.test.ts holds the sum.
import { fileURLToPath } from 'node:url';
import { read, sourceFiles } from './files.ts';

/** What was added since, by the beginnings of its paths below src. */
export const ADDED: Record<string, string[]> = {
  'logins at servers': [
    'gateway/upstream/login/',
    'gateway/upstream/account-target.ts',
    'gateway/account-logins.ts',
    'gateway/ask/login/',
    'protocol/login-pages.ts',
    'cli/login/',
    'cli/args/login-commands.ts',
    'cli/commands/login',
  ],
  'logins of clients': [
    'gateway/accept/auth/',
    'gateway/accept/login.ts',
    'gateway/load-front-pages.ts',
    'config/check/auth-shape.ts',
    'config/check/check-auth.ts',
    'cli/commands/key.ts',
    'cli/running/gateway-token.ts',
    'cli/serving/login-options.ts',
  ],
  "a person's word": ['gateway/ask/trust/', 'cli/commands/pair.ts', 'cli/serving/tell-person.ts'],
  rules: ['gateway/middleware/steps/rules/', 'config/check/check-rules.ts', 'cli/commands/policy.ts'],
  'checks of definitions and results, pins': [
    'gateway/definitions/',
    'gateway/middleware/steps/screen/',
    'shared/text/',
    'cli/commands/pins.ts',
    'cli/terminal/word-diff.ts',
  ],
  'audit log': [
    'gateway/audit/',
    'protocol/audit.ts',
    'cli/args/audit-commands.ts',
    'cli/commands/audit.ts',
    'cli/commands/logs.ts',
    'cli/serving/own-audit.ts',
  ],
  'rates and budgets': [
    'gateway/rate-limits.ts',
    'gateway/upstream/links/unread-queue.ts',
    'shared/rate.ts',
    'shared/held-bytes.ts',
    'shared/containers/fair-shares.ts',
  ],
  sandboxes: ['gateway/upstream/sandbox/'],
  'the command line of keys, pairing, trust, pins and rules': ['cli/args/access-commands.ts'],
  'trust of files': ['cli/trust/', 'cli/commands/trust.ts'],
  'secrets kept out of what Parley says, and requests kept out of its network': [
    'shared/secrets/',
    'shared/net/',
    'config/redact-config.ts',
  ],
};

const START = 'there at the start';

export function countSourceLines(): Map<string, number> {
  const counts = new Map([START, ...Object.keys(ADDED)].map((name) => [name, 0]));
  for (const path of sourceFiles()) {
    const name = capabilityOf(path.slice('src/'.length)) ?? START;
    counts.set(name, counts.get(name)! + read(path).split('\n').length - 1);
  }
  return counts;
}

function capabilityOf(path: string): string | undefined {
  return Object.entries(ADDED).find(([, beginnings]) => beginnings.some((one) => path.startsWith(one)))?.[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, lines] of countSourceLines()) console.log(String(lines).padStart(7), name);
}
