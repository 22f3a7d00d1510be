import Caching

/// Runs all policies on all traces and prints tables.
enum EvictionTable {
    /// The name of each policy and the function that runs it.
    static let policies: [(name: String, run: @Sendable (Trace, Int) -> Score)] = [
        ("LRU", { Simulation<LRUQueue>.run($0, bytesMax: $1) }),
        ("SIEVE", { Simulation<SieveQueue>.run($0, bytesMax: $1) }),
        ("S3-FIFO", { Simulation<S3FIFOQueue>.run($0, bytesMax: $1) }),
        ("W-TinyLFU", { Simulation<TinyLFUQueue>.run($0, bytesMax: $1) }),
        ("GDSF, work known", { Simulation<GreedyDualQueue>.run($0, bytesMax: $1) }),
        ("GDSF, work 1", { Simulation<GreedySizeQueue>.run($0, bytesMax: $1) }),
        ("by worth, in production", { Simulation<GDSFCache>.run($0, bytesMax: $1) }),
        ("foresight", { Foresight.run($0, bytesMax: $1) }),
    ]

    static let sharesOfAll = [1, 5, 10, 25]
    static let seed: UInt64 = 1

    static func recipes(_ isShort: Bool) -> [TraceRecipe] {
        let (requests, objects) = isShort ? (400_000, 40_000) : (2_000_000, 200_000)
        func recipe(_ name: String) -> TraceRecipe {
            TraceRecipe(name: name, requests: requests, objects: objects)
        }
        var all = [0.7, 0.9, 1.1].map { exponent in
            var zipf = recipe("Zipf \(exponent)")
            zipf.exponent = exponent
            return zipf
        }
        var scan = recipe("scan")
        scan.onlyScans = true
        var scans = recipe("Zipf 0.9, 5 % scans")
        scans.scanPercent = 5
        var mixed = recipe("Zipf 0.9, mixed sizes")
        mixed.mixesSizes = true
        var shifting = recipe("Zipf 0.9, shifting")
        shifting.shiftEvery = requests / 20
        var day = TraceRecipe(
            name: "day", requests: isShort ? 1_000_000 : 10_000_000,
            objects: isShort ? 100_000 : 1_000_000)
        (day.scanPercent, day.mixesSizes) = (5, true)
        all += [scan, scans, mixed, shifting, day]
        return all
    }

    static func cell(_ percents: [Double]) -> String {
        percents.map { percent in
            let tenths = Int((percent * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }.joined(separator: " · ")
    }

    /// Prints a table for a trace: one line per policy, one column per cache size.
    static func report(_ recipe: TraceRecipe) {
        let trace = recipe.generate(seed: seed)
        let all = trace.bytes
        print("\n| \(trace.name) |" + sharesOfAll.map { " \($0) % |" }.joined())
        print("|---|" + sharesOfAll.map { _ in "--:|" }.joined())
        for policy in policies {
            let cells = sharesOfAll.map { cell(policy.run(trace, all / 100 * $0).percents) }
            print("| \(policy.name) |" + cells.map { " \($0) |" }.joined())
        }
    }
}
