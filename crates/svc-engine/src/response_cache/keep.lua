-- Keeps an answer, unless a type has changed since it was begun. KEYS: the answer, then a type each. ARGV: the marks of the
-- types when it was begun, the answer, and its milliseconds.
local marks = {}
for i = 2, #KEYS do
  marks[#marks + 1] = redis.call('GET', KEYS[i]) or ''
end
if table.concat(marks) ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'marks', ARGV[1], 'body', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
