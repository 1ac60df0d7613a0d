// Where sessions end with their process.
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { HttpSessionStore } from './session-store.ts';

export class MemorySessions implements HttpSessionStore {
  name(): string {
    return randomId();
  }

  begin(): void {}
  change(): void {}
  end(): void {}
  takeOver(): undefined {}
  release(): void {}
  close(): void {}
}
