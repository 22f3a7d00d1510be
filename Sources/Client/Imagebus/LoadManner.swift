import Messages

/// What a load says beside its image, its token and its slot; `LoadRequest` has what each part
/// means. Nothing that is counted: it is compared and copied with each load.
struct LoadManner: Equatable {
    var group: GroupID?
    var wantsProgress = false
    var wantsInfo = false
    var detach = false
    var uploadBytes: UInt64 = 0
    var visitor: UInt64 = 0
    var staleRetries: UInt8 = 0
    var wantsPieces = false
    /// Whether its slot is said.
    var namesSlot = true
}
