-- Finds an answer, and the marks of the types that it is read from. KEYS: the answer, then a type each. ARGV: a mark for
-- types that have none, and the seconds after which marks go.
local marks = {}
for i = 2, #KEYS do
  local mark = redis.call('GET', KEYS[i])
  if not mark then
    mark = ARGV[1]
    redis.call('SET', KEYS[i], mark, 'EX', ARGV[2])
  end
  marks[#marks + 1] = mark
end
local all = table.concat(marks)
local kept = redis.call('HMGET', KEYS[1], 'marks', 'body')
if kept[1] == all then
  return { all, redis.call('PTTL', KEYS[1]), kept[2] }
end
return { all, 0, '' }
