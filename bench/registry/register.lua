-- Every request registers a new Avro schema under a new subject.
-- wrk … http://host:port/prefix -- TAG: the tag tells this run's names from those of other runs.

local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

local SCHEMA = [[{\"type\":\"record\",\"name\":\"%s\",\"namespace\":\"bench\",\"fields\":[]]
  .. [[{\"name\":\"id\",\"type\":\"long\"},]]
  .. [[{\"name\":\"name\",\"type\":\"string\"},]]
  .. [[{\"name\":\"email\",\"type\":[\"null\",\"string\"],\"default\":null},]]
  .. [[{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}]}]]

function init(args)
  tag = args[1]
  count = 0
  prefix = wrk.path:gsub("/$", "")
  headers = { ["Content-Type"] = "application/vnd.schemaregistry.v1+json" }
end

function request()
  count = count + 1
  local name = string.format("%s_%d_%d", tag, number, count)
  local body = '{"schema":"' .. string.format(SCHEMA, name) .. '"}'
  return wrk.format("POST", prefix .. "/subjects/" .. name .. "/versions", headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("load %.2f %.3f %d\n",
    summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, errors.status + lost))
end
