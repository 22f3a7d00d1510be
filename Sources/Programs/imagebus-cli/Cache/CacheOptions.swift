import ImageModel
import Messages

/// What `imagebus cache` was told.
struct CacheOptions: Hashable {
    var action: EntryAction
    var key: String
    var cache: String?
    var tiers: CacheTypes
    var stack: OperatorOptions

    init(_ read: ReadOptions, environment: [String: String]) throws(UsageError) {
        stack = try OperatorOptions(read, environment: environment)
        cache = read.last("cache")
        tiers = try read.last("type").map(Self.tiers) ?? .all
        guard read.operands.count == 2, let action = Self.actions[read.operands[0]] else {
            throw UsageError("say contains KEY, or remove KEY")
        }
        self.action = action
        key = read.operands[1]
    }

    private static let actions: [String: EntryAction] = ["contains": .contains, "remove": .remove]

    private static func tiers(_ word: String) throws(UsageError) -> CacheTypes {
        guard let tiers = [CacheTypes.memory, .disk, .all].first(where: { $0.name == word }) else {
            throw UsageError("--type is memory, disk or all, not '\(word)'")
        }
        return tiers
    }
}
