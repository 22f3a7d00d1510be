/// Compares the generated messages in the repository with newly generated ones.
enum StaleMessages {
    static let schema = "Proto/imagebus.proto"
    static let folder = "Sources/System/CMessages"

    /// Both by file name. Messages are stale if they differ, are missing, or no longer have a
    /// schema.
    static func findings(fresh: [String: String], checkedIn: [String: String]) -> [Finding] {
        Set(fresh.keys).union(checkedIn.keys).sorted().compactMap { name in
            switch (fresh[name], checkedIn[name]) {
            case (let generated?, let kept?):
                return generated == kept
                    ? nil : finding(name, firstDifference(generated, kept), "stale")
            case (_?, nil): return finding(name, 1, "missing")
            default: return finding(name, 1, "nothing generates it")
            }
        }
    }

    private static func finding(_ name: String, _ line: Int, _ rule: String) -> Finding {
        Finding(file: "\(folder)/…/\(name)", line: line, rule: rule, remedy: "run scripts/proto")
    }

    private static func firstDifference(_ generated: String, _ kept: String) -> Int {
        let generated = generated.split(separator: "\n", omittingEmptySubsequences: false)
        let kept = kept.split(separator: "\n", omittingEmptySubsequences: false)
        return zip(generated, kept).prefix { $0.0 == $0.1 }.count + 1
    }
}
