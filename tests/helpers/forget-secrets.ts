// Unit tests share their modules, and with them the secrets of the process: one that a file adds would be masked in the next file's log.
import { afterAll } from 'vitest';
import { secrets } from '../../src/kernel/secrets/secrets.ts';

afterAll(() => secrets.clear());
