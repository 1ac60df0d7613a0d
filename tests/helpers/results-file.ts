// Writes the result of each test to the folder that PARLEY_TEST_RESULTS names, one line per test, for
// tests/borders/write.mjs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

export default class ResultsFile implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const folder = process.env['PARLEY_TEST_RESULTS'];
    if (!folder) return;
    const lines = modules.flatMap((module) => {
      const file = relative(process.cwd(), module.moduleId);
      return [...module.children.allTests()].map((test) =>
        JSON.stringify({ file, title: test.fullName, state: test.result().state }),
      );
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${Date.now()}-${process.pid}.jsonl`), `${lines.join('\n')}\n`);
  }
}
