-- Gives types another mark, so that no answer fits them any more. ARGV: the mark, and the seconds after which it goes.
for _, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[1], 'EX', ARGV[2])
end
return #KEYS
