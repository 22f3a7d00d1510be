-- Every response must be 304; wrk itself would not report other successes as errors.
dofile("Tests/Benchmarks/wrk-report.lua")

local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() others = 0 end
function response(status) if status ~= 304 then others = others + 1 end end

local report = done
function done(summary, latency)
    for _, thread in ipairs(threads) do
        summary.errors.status = summary.errors.status + thread:get("others")
    end
    report(summary, latency)
end
