// Builds the library once as it is and once without budgets: nothing switches them off, so their modules are replaced by ones that let
// everything pass. The scan of results that stay bytes counts depth and values as it goes, and is in both.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OPEN = {
  'kernel/base/held-bytes.ts': `
    export const UNCOUNTED_BYTES = Infinity;
    export class HeldShare {
      bytes = 0;
      isCut = false;
      canBeCut = false;
      set() { return true; }
      release() {}
      keep() {}
      cutOff() {}
    }
    export function heldBytes() { return 0; }`,
  'mcp/listen/http/sse-response.ts': 'export function holdUnsent() {}',
  'mcp/wire/json-shape.ts': 'export function excessOf() {}',
  'mcp/wire/paced-reader.ts': `
    export class PacedReader {
      isWaiting = false;
      #options;
      constructor(options) { this.#options = options; }
      push(chunk) {
        this.#options.reader.push(chunk);
        this.#options.onRead?.();
      }
      end() { this.#options.source.resume(); }
      drop() {}
    }`,
};

/** Marks a module that is loaded although it is replaced. */
const KEPT = '?kept';

/** The folder of the build; inside the repository, where its packages are found. */
export async function build({ budgets }) {
  const dir = join(root, 'bench', 'results', budgets ? 'with-budgets' : 'without-budgets');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const replaced = new Set();
  const open = {
    name: 'open',
    resolveId(source, importer) {
      return source.endsWith(KEPT) ? join(dirname(importer), source) : undefined;
    },
    load(id) {
      if (id.endsWith(KEPT)) return { code: readFileSync(id.slice(0, -KEPT.length), 'utf8'), moduleType: 'ts' };
      const name = Object.keys(OPEN).find((one) => id.endsWith(join('src', one)));
      if (budgets || !name) return undefined;
      replaced.add(name);
      // What budgets have no part in stays as it is.
      return { code: `${OPEN[name]}\nexport * from './${basename(name)}${KEPT}';`, moduleType: 'js' };
    },
  };
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    plugins: [open],
    input: { index: join(root, 'src', '_entries', 'index.ts') },
    external: (id) => !id.startsWith('.') && !id.startsWith(root),
    transform: { target: 'es2023' },
  });
  await bundle.write({ dir, format: 'es', keepNames: true });
  const missing = Object.keys(OPEN).filter((name) => !budgets && !replaced.has(name));
  if (missing.length > 0) throw new Error(`These modules of budgets are not there: ${missing.join(', ')}`);
  return join(dir, 'index.js');
}
