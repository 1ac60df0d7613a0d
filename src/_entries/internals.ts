// What the benchmarks and the kill tests of this repository reach into. It is built beside the entries so that it shares their classes, and
// is left out of the package.
export { flow } from '../flow/define.ts';
export { BodyRun } from '../flow/engine/body-run.ts';
export { fold } from '../flow/fold.ts';
export { Sessions } from '../flow/session/sessions.ts';
export { settled } from '../flow/session/turn/turn.ts';
export { memoryStore } from '../flow/store/memory/memory.ts';
export { createPostgresStore } from '../flow/store/postgres/postgres.ts';
export { createRedisStore } from '../flow/store/redis/redis.ts';
export { createSqliteStore } from '../flow/store/sqlite/sqlite.ts';
export { isEnded } from '../flow/header.ts';
export { createTokens } from '../flow/token/tokens.ts';
export { TokenSessions } from '../flow/token/token-sessions.ts';
