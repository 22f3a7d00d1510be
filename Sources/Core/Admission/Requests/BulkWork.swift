import Derivation
import Dispatching
import ImageModel
import Messages

/// What one event means for many requests, which may be tens of thousands. It is done to a few of
/// them in each event, so that no event takes long.
///
/// Requests that wait for their turn here wait nowhere else (`LiveRequest.Standing.moving`). The
/// exceptions are members of a group, requests of a session that ended, and requests that are told
/// of progress or shown a partial image.
struct BulkWork: Sendable {
    /// What is done to each of them.
    indirect enum Step: Sendable {
        /// They are to have another class, or to end. A client means its own members, an operator
        /// (`nil`) those of all clients.
        case group(ClientID?, GroupID, GroupChange)
        /// Their session is over.
        case departed(ClientID)
        /// They are told how far a transfer is.
        case progress(Transfer, JobProgress, ImageInfo?)
        /// They are shown an image of so many bytes of a transfer.
        case partial(Transfer, DeliveredImage, UInt64)
        /// The cache has their result.
        case found(CacheHit, StageTimings)
        /// It does not, in those tiers.
        case missed(CacheTypes, StageTimings)
        /// External caches know that of the freshness of their images.
        case validity(Validity?, StageTimings)
        /// Their result is there, or was not needed beyond its facts.
        case made(Made)
        /// They have their image, and the stores that they waited for have ended.
        case pending
        /// What is laid over their images is there.
        case onward
        /// What they waited for was torn down.
        case disposed(Disposition)

        /// Whether the step is much work even where nobody is told anything.
        var isLong: Bool {
            switch self {
            case .group, .departed: true
            case .progress, .partial, .found, .missed, .validity, .made, .pending, .onward,
                .disposed:
                false
            }
        }
    }

    /// What is wanted of the members of a group.
    enum GroupChange: Sendable {
        case priority(Priority)
        case cancel

        var isCancel: Bool { if case .cancel = self { true } else { false } }
    }

    let step: Step
    /// Of `results/`; no reader lets go of it before the last of them has its reply.
    let block: BlockHandle?
    /// The text that was looked for in vain before they go on.
    let missedText: String?
    /// Whether that text was stored while they waited for their turn. They look again then.
    var isOvertaken = false
    /// Some may have ended by now.
    private var members: [LiveRequest.ID]
    private var next = 0

    init(
        _ step: Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        missedText: String? = nil
    ) {
        self.step = step
        self.block = block
        self.missedText = missedText
        self.members = members
    }

    /// Whether no member is left.
    var isDone: Bool { next == members.count }

    /// Members that still wait for their turn.
    var left: ArraySlice<LiveRequest.ID> { members[next...] }

    /// The next member.
    mutating func popNext() -> LiveRequest.ID? {
        guard next < members.count else { return nil }
        next += 1
        return members[next - 1]
    }

    /// A member was told something else since.
    mutating func forget(_ member: LiveRequest.ID) {
        guard let place = left.firstIndex(of: member) else { return }
        members.remove(at: place)
    }

    /// What is wanted of a group, if that is what it is.
    func change(of group: GroupID, by client: ClientID?) -> GroupChange? {
        guard case .group(client, group, let change) = step else { return nil }
        return change
    }
}
