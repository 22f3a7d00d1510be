import TestKit
import Zimg

/// The largest difference of each code path from the portable one, and on which processor.
struct CodePathTable {
    private struct Row {
        var geometries = 0
        var differing = 0
        /// By bytes per sample.
        var worst = [1: 0, 2: 0]
        var example = ""
    }

    private var rows: [ZimgCodePath: Row] = [:]

    mutating func add(_ path: ZimgCodePath, _ geometry: RandomGeometry, difference: Int) {
        var row = rows[path] ?? Row()
        row.geometries += 1
        if difference > 0 { row.differing += 1 }
        if difference > row.worst[geometry.depth] ?? 0 {
            row.worst[geometry.depth] = difference
            row.example = "\(geometry)"
        }
        rows[path] = row
    }

    func worst(_ path: ZimgCodePath) -> Int { rows[path]?.worst.values.max() ?? 0 }

    /// The geometry with the largest difference from the portable path.
    func example(_ path: ZimgCodePath) -> String { rows[path]?.example ?? "" }

    func print() {
        Swift.print("zimg on \(Self.processor)")
        Swift.print("| code path | geometries | differing | worst of 8 bits | worst of 16 bits |")
        Swift.print("|---|---|---|---|---|")
        for path in ZimgCodePath.allCases {
            guard let row = rows[path] else {
                Swift.print("| \(path) | not on this processor | | | |")
                continue
            }
            let worst = [1, 2].map { "\(row.worst[$0] ?? 0)" }.joined(separator: " | ")
            Swift.print("| \(path) | \(row.geometries) | \(row.differing) | \(worst) |")
        }
    }

    /// The name of the processor and its relevant features.
    static var processor: String {
        let lines = (FileBytes.text("/proc/cpuinfo") ?? "").split(separator: "\n")
        func value(_ name: String) -> String {
            let line = lines.first { $0.hasPrefix(name) } ?? ""
            return String(line.drop { $0 != ":" }.dropFirst(2))
        }
        let features = value("flags").split(separator: " ").filter { flag in
            ["sse2", "avx", "f16c", "avx2", "fma"].contains(flag) || flag.hasPrefix("avx512")
        }
        return "\(value("model name")): \(features.joined(separator: " "))"
    }
}
