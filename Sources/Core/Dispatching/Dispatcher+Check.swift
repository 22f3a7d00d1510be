import ImageModel
import Messages

// Nothing that a worker writes is believed (SEMANTICS §7.7).
extension Dispatcher {
    /// The outcome as far as it answers this job and refers to bytes that the worker has, with the
    /// producer filled in. Throws what ends the session.
    func check(_ result: JobResult, of job: ActiveJob, from worker: WorkerID) throws(ImageError)
        -> JobResult
    {
        switch (job.work, result) {
        case (_, .failed), (.query, .miss): return result
        case (.entry(let work), .entry(let tiers)):
            guard tiers.isSubset(of: work.tiers) else { throw Self.lie }
            return result
        case (.fetch(let work), .fetched(var body)):
            body.reference = try ledger.check(body.reference, from: worker, in: .stage)
            guard body.reference.length <= work.bodyBytesMax else { throw Self.lie }
            return .fetched(body)
        case (.query(let work), .hit(var hit)):
            let arena: ArenaName = work.destination == .results ? .results : .stage
            hit.reference = try ledger.check(hit.reference, from: worker, in: arena)
            guard hit.tier == .memory || hit.tier == .disk else { throw Self.lie }
            return .hit(hit)
        case (.store(let work), .stored(var report)):
            guard work.delivers == (report.delivered != nil) else { throw Self.lie }
            if let delivered = report.delivered {
                report.delivered = try ledger.check(delivered, from: worker, in: .results)
            }
            return .stored(report)
        case (.decode(let work), .decoded(let image)):
            guard isGranted(image.info.format, to: job.pool) else { throw Self.notGranted }
            return .decoded(try check(image, of: work, from: worker))
        case (.transform(let work), .transformed(let image)):
            guard image.info.format == work.resultFormat(hasAlpha: image.info.hasAlpha),
                image.info.size == work.resultSize
            else { throw Self.lie }
            return .transformed(try check(image, from: worker))
        case (.paint(let work), .transformed(let image)):
            guard image.info.format == work.resultFormat, image.info.size == work.size else {
                throw Self.lie
            }
            return .transformed(try check(image, from: worker))
        default: throw Self.lie
        }
    }

    /// There are bytes of one image. Whether they are what was said, the cache reads in them.
    private func check(_ image: EncodedImage, from worker: WorkerID)
        throws(ImageError) -> EncodedImage
    {
        guard image.reference.length > 0, image.info.pages == 1 else { throw Self.lie }
        var checked = image
        checked.reference = try ledger.check(image.reference, from: worker, in: .stage)
        return checked
    }

    /// The facts are within the limits that the job named; the pixels of a decode lie in its block
    /// as it says, and came only if they were wanted.
    private func check(_ image: DecodedImage, of work: DecodeWork, from worker: WorkerID)
        throws(ImageError) -> DecodedImage
    {
        guard work.limits.permit(image.info), (image.pixels == nil) == (work.need == .header)
        else { throw Self.lie }
        guard let pixels = image.pixels else { return image }
        let reference = try ledger.check(pixels.reference, from: worker, in: .stage)
        let layout = pixels.layout
        guard let bytes = layout.byteCount, UInt64(bytes) <= reference.length, layout.isActive,
            bytes <= work.limits.pixelBytesMax
        else { throw Self.lie }
        var checked = image
        checked.pixels?.reference = reference
        return checked
    }

    /// Whether the pool may decode that. Our own decoders read the signature: where they find
    /// another format than they are granted, whoever made the bytes said it wrong (`misnamed`).
    private func isGranted(_ format: ImageFormat, to pool: PoolID) -> Bool {
        limits.pools.all[pool.index].trust == .own || mayDecode(format, pool)
    }

    private func mayDecode(_ format: ImageFormat, _ pool: PoolID) -> Bool {
        limits.pools.all[pool.index].grant.decodes(format)
    }

    /// The failure of a decode that found a format which its pool is not granted.
    func misnamed(_ result: JobResult, of job: ActiveJob) -> ImageError? {
        guard case .decoded(let image) = result,
            !mayDecode(image.info.format, job.pool)
        else { return nil }
        return ImageError(
            .badImageData,
            "the bytes are \(image.info.format.name), and were said to be another format")
    }

    private static let notGranted = ImageError(
        .protocolViolation, "an outcome is of a format that the pool of its worker is not granted")
    private static let lie = ImageError(
        .protocolViolation, "an outcome does not answer the job that it names")
}

extension ImageLimits {
    /// Whether an image may be what a decoder says that it is.
    fileprivate func permit(_ info: ImageInfo) -> Bool {
        guard info.size.isPositive, max(info.size.width, info.size.height) <= sideMax,
            let area = info.size.area, info.pages > 0, info.pages <= pagesMax
        else { return false }
        let (all, overflow) = area.multipliedReportingOverflow(by: info.pages)
        return !overflow && all <= pixelsMax
    }
}
