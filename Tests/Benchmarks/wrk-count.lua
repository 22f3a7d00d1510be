-- Requests a different image each time: {n} in the path counts up.
dofile("Tests/Benchmarks/wrk-report.lua")

local number = os.time() * 1000

function request()
    number = number + 1
    return wrk.format(nil, (wrk.path:gsub("{n}", number)))
end
