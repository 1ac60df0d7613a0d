// The Lua scripts of the Redis store: one for each operation, so that each is atomic.
// 1. A header is a hash with one JSON text per field. Scripts never parse JSON: Lua would lose empty lists and large numbers.
//    Fields that begin with `:` belong to the store: `:e` has ended, `:f` fence, `:o` owner, `:u` until, `:n` last change.
// 2. `open` holds every open session as principal (its share, if it has one), creation time and id, all with the same score. Sessions of a
//    principal are counted and listed by lexical range, so there is no counter that could drift.
// 3. Every change has a unique mark. A change that is repeated after a broken connection finds its mark and gets the same reply.
// 4. All keys of a script are in KEYS and share one hash tag, so it also runs on a cluster.

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Shared by create, commit and drop. */
const MEMBER = `
local function member(principal, created, id)
  return principal .. string.format('%016.0f', tonumber(created)) .. id
end
`;

/**
 * KEYS session, entries, current, due, open. ARGV id, mark, limit in total, limit per principal, principal or share and creation time (as in
 * the fields), the beginning of shares of its network (or empty) and their limit, due at, entries, current, fields and values …
 */
export const CREATE = `${MEMBER}
local there = redis.call('HMGET', KEYS[1], 'rev', ':n')
if there[1] then return there[2] == ARGV[2] and 'ok' or 'exists' end
if redis.call('ZCARD', KEYS[5]) >= tonumber(ARGV[3]) then return 'limit' end
if redis.call('ZLEXCOUNT', KEYS[5], '[' .. ARGV[5], '(' .. ARGV[5] .. ':') >= tonumber(ARGV[4]) then return 'limit' end
if ARGV[7] ~= '' and redis.call('ZLEXCOUNT', KEYS[5], '[' .. ARGV[7], '(' .. ARGV[7] .. '\\127') >= tonumber(ARGV[8]) then
  return 'network'
end
redis.call('HSET', KEYS[1], ':n', ARGV[2], unpack(ARGV, 12))
redis.call('RPUSH', KEYS[2], ARGV[10])
redis.call('SET', KEYS[3], ARGV[11])
redis.call('ZADD', KEYS[4], ARGV[9], ARGV[1])
redis.call('ZADD', KEYS[5], 0, member(ARGV[5], ARGV[6], ARGV[1]))
return 'ok'
`;

/** KEYS session, entries, current. */
export const LOAD = `
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return false end
return { fields, redis.call('GET', KEYS[3]), redis.call('LRANGE', KEYS[2], 0, -1) }
`;

/** KEYS session, current. */
export const HEADER = `
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return false end
return { fields, redis.call('GET', KEYS[2]) }
`;

/** KEYS due, and session and current of each. ARGV their ids. Leaves out missing sessions. */
export const BROWSE = `
local seen = {}
for i = 1, #ARGV do
  local fields = redis.call('HGETALL', KEYS[2 * i])
  if #fields > 0 then
    seen[#seen + 1] = { fields, redis.call('GET', KEYS[2 * i + 1]), redis.call('ZSCORE', KEYS[1], ARGV[i]) }
  end
end
return seen
`;

/**
 * KEYS session, entries, current, due, open, ended. ARGV id, mark, expected rev, fence, due at, entries, current, tombstone (ms; empty
 * while the session goes on), most tombstones, number of fields and values to set, these, fields to remove …
 * Returns the new rev and the ids of tombstones beyond the limit; or false and the current header.
 */
export const COMMIT = `${MEMBER}${NOW}
local there = redis.call('HMGET', KEYS[1], 'rev', ':e', ':f', ':n')
if not there[1] then return { false } end
local fenced = ARGV[4] ~= '' and tonumber(ARGV[4]) < tonumber(there[3] or 0)
if there[1] ~= ARGV[3] or there[2] or fenced then
  if there[4] == ARGV[2] then return { tonumber(there[1]) } end
  return { false, redis.call('HGETALL', KEYS[1]), redis.call('GET', KEYS[3]) }
end
local count = tonumber(ARGV[10])
for i = 11, 10 + count, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
for i = 11 + count, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
redis.call('HSET', KEYS[1], ':n', ARGV[2])
local rev = redis.call('HINCRBY', KEYS[1], 'rev', 1)
if ARGV[8] == '' then
  if ARGV[6] ~= '' then redis.call('RPUSH', KEYS[2], ARGV[6]) end
  if ARGV[7] ~= '' then redis.call('SET', KEYS[3], ARGV[7]) end
  local due = ARGV[5]
  if due == '' then due = redis.call('HGET', KEYS[1], 'expiresAt') end
  redis.call('ZADD', KEYS[4], due, ARGV[1])
  return { rev }
end
local mine = redis.call('HMGET', KEYS[1], 'principal', 'createdAt', 'share')
redis.call('ZREM', KEYS[5], member(mine[3] or mine[1], mine[2], ARGV[1]))
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('DEL', KEYS[2], KEYS[3])
local keep = tonumber(ARGV[8])
if keep <= 0 then
  redis.call('DEL', KEYS[1])
  return { rev }
end
redis.call('HSET', KEYS[1], ':e', 1)
redis.call('HDEL', KEYS[1], ':o', ':u')
redis.call('PEXPIRE', KEYS[1], keep)
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', now)
redis.call('ZADD', KEYS[6], now + keep, ARGV[1])
local result = { rev }
local over = redis.call('ZCARD', KEYS[6]) - tonumber(ARGV[9])
if over > 0 then
  local popped = redis.call('ZPOPMIN', KEYS[6], over)
  for i = 1, #popped, 2 do result[#result + 1] = popped[i] end
end
return result
`;

/** KEYS session. ARGV owner, ms. */
export const LEASE = `${NOW}
local there = redis.call('HMGET', KEYS[1], 'rev', ':e', ':o', ':u')
if not there[1] or there[2] then return false end
if there[3] and there[3] ~= ARGV[1] and tonumber(there[4]) > now then return false end
redis.call('HSET', KEYS[1], ':o', ARGV[1], ':u', now + tonumber(ARGV[2]))
return redis.call('HINCRBY', KEYS[1], ':f', 1)
`;

/** KEYS session. ARGV owner. */
export const RELEASE = `
if redis.call('HGET', KEYS[1], ':o') == ARGV[1] then redis.call('HDEL', KEYS[1], ':o', ':u') end
return 1
`;

/** KEYS session. */
export const FORGET_OUTCOME = `
if redis.call('HEXISTS', KEYS[1], ':e') == 1 then redis.call('HDEL', KEYS[1], 'outcome') end
return 1
`;

/** KEYS session, entries, current, due, open, ended. ARGV id. */
export const DROP = `${MEMBER}
local mine = redis.call('HMGET', KEYS[1], 'principal', 'createdAt', 'share')
if mine[1] then redis.call('ZREM', KEYS[5], member(mine[3] or mine[1], mine[2], ARGV[1])) end
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 1
`;

/** KEYS salt. ARGV a random text, for a store that has none yet. */
export const SALT = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
`;

/** KEYS turn. ARGV mark, ttl (ms). */
export const SPEND = `
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
`;

/** KEYS blob. ARGV bytes, ttl (ms). */
export const PUT_BLOB = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[2])))
return 1
`;
