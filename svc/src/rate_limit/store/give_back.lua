-- Gives back a part of what was taken in a window, by the arithmetic of `limit/meter.rs`.
local strategy, window, taken_at, amount = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local old = redis.call('HMGET', KEYS[1], 'at', 'used', 'before')
if not old[1] then return 0 end
local at, used, before = tonumber(old[1]), tonumber(old[2]), tonumber(old[3])
if strategy == 'bucket' then used = math.max(0, used - amount * window)
elseif at == taken_at then used = math.max(0, used - amount)
elseif at == taken_at + window then before = math.max(0, before - amount)
end
redis.call('HSET', KEYS[1], 'used', string.format('%.0f', used), 'before', string.format('%.0f', before))
return 1
