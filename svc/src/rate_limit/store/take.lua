-- Takes all counts of a request or none, by the arithmetic of `limit/meter.rs`. Redis's own clock counts.
-- A count has five numbers: its strategy, count, window in milliseconds, burst, and how much is taken.
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local kept, answer, all = {}, {}, true

-- The part of a window until what was taken in the one before weighs no more than the room.
local function until_light(before, room, window)
  if before <= room then return 0 end
  return window - math.floor(room * window / before)
end

for i, key in ipairs(KEYS) do
  local first = (i - 1) * 5
  local strategy, count, window = ARGV[first + 1], tonumber(ARGV[first + 2]), tonumber(ARGV[first + 3])
  local burst, cost = tonumber(ARGV[first + 4]), tonumber(ARGV[first + 5])
  local old = redis.call('HMGET', key, 'at', 'used', 'before')
  local at, used, before = tonumber(old[1] or 0), tonumber(old[2] or 0), tonumber(old[3] or 0)
  local now = math.max(clock, at)
  local wait, reset, left, life = 0, 0, 0, 0
  if strategy == 'bucket' then
    used, at = math.max(0, used - (now - at) * count), now
    local over = used + cost * window - burst * window
    if cost > burst then wait = window
    elseif over > 0 then wait = math.ceil(over / count)
    else used = used + cost * window end
    reset = math.ceil(used / count)
    left = math.floor(math.max(0, burst * window - used) / window)
    life = reset
  else
    local start = now - now % window
    if start ~= at then
      before = (strategy == 'sliding' and start == at + window) and used or 0
      at, used = start, 0
    end
    local passed = now - at
    if cost > count then wait = window
    elseif used + cost > count then
      wait = at + window - now
      if strategy == 'sliding' then wait = wait + until_light(used, count - cost, window) end
    else
      wait = math.max(0, until_light(before, count - used - cost, window) - passed)
      if wait == 0 then used = used + cost end
    end
    reset = at + window - now
    left = math.max(0, count - used - math.ceil(before * (window - passed) / window))
    life = reset + (strategy == 'sliding' and window or 0)
  end
  if wait > 0 then all = false end
  kept[i] = { at, used, before, math.max(life, 1) }
  for _, number in ipairs({ wait, left, reset, at }) do answer[#answer + 1] = number end
end

if all then
  for i, key in ipairs(KEYS) do
    local at, used, before, life = unpack(kept[i])
    local text = function(number) return string.format('%.0f', number) end
    redis.call('HSET', key, 'at', text(at), 'used', text(used), 'before', text(before))
    redis.call('PEXPIRE', key, text(life))
  end
end
return answer
