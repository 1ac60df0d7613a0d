// The operations of a state in Redis, each one script, which Redis runs alone. All times are those of the server, in microseconds where they are
// versions: versions rise even after a FLUSHALL.
// A command that is repeated after a broken connection finds its own mark and gets the same answer.

const NOW = `
local t = redis.call('TIME')
local us = t[1] * 1000000 + t[2]
`;

/** KEYS key. ARGV mark, ttl (ms). */
export const TAKE = `
if redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
`;

/**
 * A row is a hash: value, version, the mark of the change. The index of its set has its name, with the time at which it is over.
 * KEYS row, index, counter. ARGV name, value, version, ttl (ms; empty: none), mark, channel, hint. Returns the new version; nothing if it has changed.
 */
export const PUT = `${NOW}
local row = redis.call('HMGET', KEYS[1], 'version', 'mark')
if row[2] == ARGV[5] then return row[1] end
if (row[1] or '0') ~= ARGV[3] then return false end
local version = string.format('%.0f', math.max(us, tonumber(row[1] or '0') + 1))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', us / 1000))
redis.call('HSET', KEYS[1], 'value', ARGV[2], 'version', version, 'mark', ARGV[5])
if ARGV[4] == '' then
  redis.call('PERSIST', KEYS[1])
  redis.call('ZADD', KEYS[2], '+inf', ARGV[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('ZADD', KEYS[2], string.format('%.0f', us / 1000 + ARGV[4]), ARGV[1])
end
redis.call('INCR', KEYS[3])
redis.call('PUBLISH', ARGV[6], ARGV[7])
return version
`;

/** KEYS row, index, counter. ARGV name, version (empty: any), channel, hint. */
export const REMOVE = `
local version = redis.call('HGET', KEYS[1], 'version')
if not version or (ARGV[2] ~= '' and version ~= ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('INCR', KEYS[3])
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 1
`;

/** KEYS index. Names of rows, the oldest first. */
export const NAMES = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', us / 1000))
return redis.call('ZRANGE', KEYS[1], 0, -1)
`;

/** KEYS key. ARGV count, per (ms), wanted. Returns how many are granted, and how long to wait (ms). The key has the time at which all is whole again. */
export const DRAW = `${NOW}
local now = us / 1000
local step = ARGV[2] / ARGV[1]
local at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local free = math.floor((ARGV[2] - (at - now)) / step + 0.000001)
if free < 1 then return { 0, math.ceil(at - now + step - ARGV[2]) } end
local granted = math.min(free, tonumber(ARGV[3]))
at = at + granted * step
redis.call('SET', KEYS[1], string.format('%.3f', at), 'PX', math.max(1, math.ceil(at - now)))
return { granted, 0 }
`;

/** For how long a lease that is over keeps its fence, so that the next one is higher even if the clock of the server was set back. */
const FENCE_MS = 24 * 60 * 60 * 1000;

/** KEYS key. ARGV owner, ms. Returns the fence; nothing while another one has it. */
export const TAKE_LEASE = `${NOW}
local held = redis.call('HMGET', KEYS[1], 'owner', 'until', 'fence')
if held[1] == ARGV[1] then return held[3] end
if held[1] and held[1] ~= '' and tonumber(held[2]) > us then return false end
local fence = string.format('%.0f', math.max(us, tonumber(held[3] or '0') + 1))
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', string.format('%.0f', us + ARGV[2] * 1000), 'fence', fence)
redis.call('PEXPIRE', KEYS[1], ${FENCE_MS} + ARGV[2])
return fence
`;

/** KEYS key. ARGV owner, ms. */
export const RENEW_LEASE = `${NOW}
local held = redis.call('HMGET', KEYS[1], 'owner', 'until')
if held[1] ~= ARGV[1] or tonumber(held[2]) <= us then return 0 end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', us + ARGV[2] * 1000))
redis.call('PEXPIRE', KEYS[1], ${FENCE_MS} + ARGV[2])
return 1
`;

/** KEYS key. ARGV owner. */
export const END_LEASE = `
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then redis.call('HSET', KEYS[1], 'owner', '') end
return 1
`;
