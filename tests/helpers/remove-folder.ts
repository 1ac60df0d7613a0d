import { rmSync } from 'node:fs';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 50;

/**
 * Removes a test's folder with everything in it. A process that is just ending may still write its last lines there, so a
 * folder that was not empty after all is emptied again: `maxRetries` of `rm` repeats only the removal of the folder itself.
 */
export function removeFolder(folder: string): void {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      const isBeingWritten = (error as NodeJS.ErrnoException).code === 'ENOTEMPTY';
      if (!isBeingWritten || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
