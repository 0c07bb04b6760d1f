-- Every request reads a schema by its id.
-- wrk … http://host:port/prefix -- FIRST LAST: an id between the two, by chance.

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  math.randomseed(number)
  local prefix = wrk.path:gsub("/$", "")
  local headers = { ["Accept"] = "application/vnd.schemaregistry.v1+json" }
  first, last = tonumber(args[1]), tonumber(args[2])
  -- Made before, so that the load takes as little of the machine as it can.
  requests = {}
  for id = first, last do
    requests[id] = wrk.format("GET", prefix .. "/schemas/ids/" .. id, headers)
  end
end

function request()
  return requests[math.random(first, last)]
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("load %.2f %.3f %d\n",
    summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, errors.status + lost))
end
