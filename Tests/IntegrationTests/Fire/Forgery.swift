/// A false outcome of a worker for the job that it was assigned.
enum Forgery: String, CaseIterable, Sendable {
    case segmentNotAnnounced, rangeOutside, rangeOverflows, blockZero, arenaOfResults
    case outcomeOfAnotherKind, liveBlock
    /// Announced, but the file doesn't exist: only its readers can notice.
    case fileMissing
    /// Announced, but the file is shorter: only its readers can notice.
    case fileTruncated

    /// The forgeries that the coordinator itself detects.
    static let seen: [Forgery] = allCases.filter { $0 != .fileMissing && $0 != .fileTruncated }

    static let segment: UInt32 = 1
    static let segmentBytes: UInt64 = 1 << 20
    private static let payloadBytes: UInt64 = 100_000
    /// A number of ten bytes on the wire, so that ten other bytes can replace it.
    private static let longNumber: UInt64 = .max - 7

    /// The bytes that the forger claims as output.
    var reference: BlockReference {
        var honest = Self.honest(BlockID(1))
        switch self {
        case .segmentNotAnnounced: honest.segment = 77
        case .rangeOutside: honest.offset = Self.segmentBytes - 64
        case .rangeOverflows:
            honest.offset = 1 << 63
            honest.length = 1 << 63 - 1
        case .blockZero: honest.block = BlockID(Self.longNumber)
        case .arenaOfResults: honest.arena = .results
        case .outcomeOfAnotherKind, .liveBlock, .fileMissing, .fileTruncated: break
        }
        return honest
    }

    static func honest(_ block: BlockID) -> BlockReference {
        BlockReference(segment: segment, offset: 64, length: payloadBytes, block: block)
    }

    /// The encoder can't write these two, so the encoded bytes are changed: 2^63 becomes 2^63 + 1,
    /// so that the sum exceeds 64 bits, and the long number becomes a ten-byte 0.
    func altered(_ body: [UInt8]) -> [UInt8] {
        let zeros = [UInt8](repeating: 0x80, count: 9)
        switch self {
        case .rangeOverflows:
            return body.replacing(zeros + [1], with: [0x81] + zeros.dropLast() + [1])
        case .blockZero:
            let long: [UInt8] = [0xF8] + [UInt8](repeating: 0xFF, count: 8) + [1]
            return body.replacing(long, with: zeros + [0])
        default: return body
        }
    }

    /// The outcome that the forger sends.
    func outcome(of job: Job) -> JobOutcome {
        let isOther = self == .outcomeOfAnotherKind
        let result =
            switch job.work {
            case .fetch: isOther ? Self.transformed(reference) : Self.fetched(reference)
            case .decode: isOther ? Self.fetched(reference) : Self.decoded(reference)
            default: isOther ? Self.decoded(reference) : Self.transformed(reference)
            }
        return JobOutcome(
            id: job.id, attempt: job.attempt, result: result, workMicroseconds: 1_000)
    }

    private static func fetched(_ reference: BlockReference) -> JobResult {
        .fetched(
            FetchedBody(
                reference: reference, httpStatus: 200, contentType: "image/jpeg",
                effectiveURL: "http://127.0.0.1/forged.jpg"))
    }

    private static func decoded(_ reference: BlockReference) -> JobResult {
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 160, height: 120))
        let layout = PixelLayout(
            bands: .rgb, size: PixelSize(width: 160, height: 120), stride: 480)
        return .decoded(
            DecodedImage(info: info, frames: [.init(reference: reference, layout: layout)]))
    }

    private static func transformed(_ reference: BlockReference) -> JobResult {
        let info = ImageInfo(format: .jpeg, size: PixelSize(width: 40, height: 30))
        return .transformed(EncodedImage(reference: reference, info: info))
    }
}
