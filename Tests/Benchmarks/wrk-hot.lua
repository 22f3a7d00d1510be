-- Cycles through 64 images: {n} in the path is the image's number.
dofile("Tests/Benchmarks/wrk-report.lua")

local number = 0

function request()
    number = (number + 1) % 64
    return wrk.format(nil, (wrk.path:gsub("{n}", number)))
end
