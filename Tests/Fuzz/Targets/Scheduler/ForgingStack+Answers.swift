import Coordinator
import Model

// Outcomes of workers: correct, or as chosen by the input.
extension ForgingStack {
    private static let info = ImageInfo(format: .jpeg, size: PixelSize(width: 40, height: 30))
    private static let layout = PixelLayout(bands: .rgb, size: info.size, stride: 120)
    /// Stage blocks of forged outcomes have small IDs, those in `results/` start here: the cache is
    /// trusted to allocate both from one counter.
    static let firstResult: UInt64 = 100

    /// The outcome of a correct worker.
    mutating func honest(_ job: Job, by worker: WorkerID, length: UInt64) -> JobResult {
        let info = Self.info
        switch job.work {
        case .query: return .miss
        case .entry(let work):
            return work.action.affectsSeveral ? .entries(EntryPage()) : .entry(work.tiers)
        case .fetch(let work):
            return .fetched(
                FetchedBody(
                    reference: block(of: worker, .stage, length), httpStatus: 200,
                    effectiveURL: work.url))
        case .decode(let work):
            guard work.need != .header else {
                return .decoded(DecodedImage(info: info, frames: []))
            }
            let frames = (0..<work.framesMax).map { _ in
                DecodedImage.Frame(
                    reference: block(of: worker, .stage, 3_600), layout: Self.layout)
            }
            return .decoded(DecodedImage(info: info, frames: frames))
        case .transform(let work):
            guard let size = work.resultSize, length > 0 else {
                return .failed(ImageError(.stepFailed, "a step makes nothing of it"))
            }
            let info = ImageInfo(format: work.resultFormat(hasAlpha: false), size: size)
            return .transformed(
                EncodedImage(reference: block(of: worker, .stage, length), info: info))
        case .paint(let work):
            guard length > 0 else { return .failed(ImageError(.arenaFull, "nothing fits")) }
            let info = ImageInfo(format: work.resultFormat, size: work.size)
            return .transformed(
                EncodedImage(reference: block(of: worker, .stage, length), info: info))
        case .store(let work):
            let delivered = work.delivers ? block(of: worker, .results, work.source.length) : nil
            return .stored(StoreReport(delivered: delivered, tiers: work.tiers))
        }
    }

    /// A new block in a segment of the worker.
    private mutating func block(of worker: WorkerID, _ arena: ArenaName, _ length: UInt64)
        -> BlockReference
    {
        workers[worker]?.lastBlock += 1
        let segment = workers[worker]?.segments
            .filter { $0.key.arena == arena && $0.value >= length }.map(\.key.number).min()
        return BlockReference(
            arena: arena, segment: segment ?? 0, offset: 0, length: length,
            block: BlockID(workers[worker]?.lastBlock ?? 0))
    }

    static func reference(_ reader: inout ByteReader) -> BlockReference {
        let arena: ArenaName = reader.choice(4) == 0 ? .results : .stage
        let number = UInt64(reader.choice(8))
        return BlockReference(
            arena: arena, segment: UInt32(reader.choice(5)), offset: reader.number(),
            length: reader.number(),
            block: BlockID(arena == .stage ? number : firstResult + number))
    }

    /// An arbitrary outcome.
    static func forged(_ reader: inout ByteReader) -> JobResult {
        let layout = PixelLayout(
            bands: reader.pick(PixelPlane.Bands.allCases) ?? .rgb, size: reader.size(),
            stride: reader.number(), activeWidth: reader.double(), activeHeight: reader.double())
        let reference = reference(&reader)
        let info = ImageInfo(format: .png, size: reader.size(), pages: reader.number())
        switch reader.choice(8) {
        case 0:
            return .fetched(FetchedBody(reference: reference, httpStatus: 200, effectiveURL: ""))
        case 1:
            return .hit(
                CacheHit(
                    reference: reference, tier: CacheTypes(rawValue: reader.byte()),
                    metadata: StoredMetadata(info: info)))
        case 2: return .miss
        case 3: return .stored(StoreReport(delivered: reader.bool() ? reference : nil, tiers: .all))
        case 4:
            return .decoded(
                DecodedImage(info: info, frames: [.init(reference: reference, layout: layout)]))
        case 5:
            let frames = (0..<reader.choice(4)).map { _ in
                DecodedImage.Frame(reference: Self.reference(&reader), layout: Self.layout)
            }
            return .decoded(DecodedImage(info: Self.info, frames: frames))
        case 6: return .transformed(EncodedImage(reference: reference, info: info))
        default:
            return .failed(ImageError(reader.pick(ErrorCode.allCases) ?? .internalError, "drawn"))
        }
    }

    /// A cache hit in the arena that the query requests.
    mutating func hit(_ job: Job, by worker: WorkerID, length: UInt64) -> JobResult {
        guard case .query(let work) = job.work else {
            return honest(job, by: worker, length: length)
        }
        let arena: ArenaName = work.destination == .results ? .results : .stage
        return .hit(
            CacheHit(
                reference: block(of: worker, arena, length), tier: .disk,
                metadata: StoredMetadata(info: Self.info)))
    }
}
