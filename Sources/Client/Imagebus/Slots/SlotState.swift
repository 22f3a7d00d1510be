/// What is known of one key of a slot.
public struct SlotState: Hashable, Sendable {
    /// The URL that was asked for last, with or without success.
    public internal(set) var url: String
    /// How far that load is. Of one that ended well it is all.
    public internal(set) var progress: SlotProgress
    /// Loads of this key that have not ended; more than one under `avoidAutoCancelImage` alone.
    public internal(set) var loads: Int
}
