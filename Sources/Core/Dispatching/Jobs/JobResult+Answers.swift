import ImageModel
import Messages

extension JobResult {
    /// Whether it is what the work asks for; where its bytes are is another question.
    func answers(_ work: JobWork) -> Bool {
        switch (work, self) {
        case (_, .failed), (.query, .miss): true
        case (.entry(let work), .entry(let tiers)):
            !work.action.isOfSeveral && tiers.isSubset(of: work.tiers)
        case (.entry(let work), .entries(let page)): page.answers(work)
        case (.entry(let work), .validity): work.action == .contains && work.wantsValidity
        case (.fetch(let work), .fetched(let body)): body.reference.length <= work.bodyBytesMax
        case (.query(let work), .hit(let hit)):
            (hit.tier == .memory || hit.tier == .disk)
                && (work.bytesMax == 0 || (1...work.bytesMax).contains(hit.reference.length))
        case (.store(let work), .stored(let report)): work.delivers == (report.delivered != nil)
        case (.decode(let work), .decoded(let image)): image.answers(work)
        case (.transform(let work), .transformed(let image)):
            image.info.format == work.resultFormat(hasAlpha: image.info.hasAlpha)
                && work.mayBecome(image.info.size)
                && image.has(framesAtMost: work.framesMax(in: image.info.format))
        case (.paint(let work), .transformed(let image)):
            image.info.format == work.resultFormat && image.info.size == work.size
                && image.has(framesAtMost: 1)
        default: false
        }
    }
}

extension EntryPage {
    /// Whether it has no more entries than were asked for, of the tiers that were meant.
    fileprivate func answers(_ work: EntryWork) -> Bool {
        guard work.action == .list else {
            return entries.isEmpty && work.action.isOfSeveral && (next == 0 || work.inSteps)
        }
        return entries.count <= Int(work.limit)
            && entries.allSatisfy { entry in
                entry.tier.isSubset(of: work.tiers)
                    && (entry.tier == .memory || entry.tier == .disk)
            }
    }
}

extension EncodedImage {
    /// Whether there are bytes of one image, or of so many frames at most. Whether they are what
    /// was said, the cache reads in them.
    fileprivate func has(framesAtMost most: Int) -> Bool {
        reference.length > 0 && (1...most).contains(info.pages)
            && (info.format != .pam || pixelMap != nil)
    }
}

extension DecodedImage {
    /// Whether the facts are within the limits that the work names, and frames came if they were
    /// wanted, no more than were asked for, and further facts likewise.
    /// Each lies in its block as it says.
    fileprivate func answers(_ work: DecodeWork) -> Bool {
        guard info.stillOf == nil, (facts == nil) == work.facts.kinds.isEmpty,
            work.showsDamaged || !isDamaged
        else { return false }
        if let file { return frames.isEmpty && answers(work, by: file) }
        guard work.limits.permit(info, for: work.need), hasFrames(for: work) else { return false }
        var bytesLeft = work.limits.pixelBytesMax
        for frame in frames {
            guard let bytes = frame.layout.byteCount, UInt64(bytes) <= frame.reference.length,
                let pixelBytes = frame.layout.pixelByteCount, frame.layout.isActive,
                frame.layout.hasFrames(of: info, for: work),
                pixelBytes <= bytesLeft, work.keeps.permit(frame.layout.samples),
                frame.layout.enclosures.allSatisfy({ !$0.wishes.isDisjoint(with: work.keeps) })
            else { return false }
            bytesLeft -= pixelBytes
        }
        return true
    }

    /// Whether a file may stand in the place of pixels.
    private func answers(_ work: DecodeWork, by file: BlockReference) -> Bool {
        guard let passing = work.passing, work.limits.permit(info, for: .header) else {
            return false
        }
        return (1...work.passedBytesMax).contains(file.length)
            && passing.passes(info, for: work.need, keepsFrames: work.wantsAllFrames)
    }

    /// The beginning of a file need not have anything to show yet.
    private func hasFrames(for work: DecodeWork) -> Bool {
        guard work.need != .header else { return frames.isEmpty }
        if work.isPartial { return frames.count <= 1 }
        return !frames.isEmpty && frames.count <= work.framesMax
    }
}

extension PixelLayout {
    /// Whether there is one frame, or, if all of them are wanted, no more than the source has, each
    /// no larger than the source: a decoder may reduce them.
    fileprivate func hasFrames(of source: ImageInfo, for work: DecodeWork) -> Bool {
        guard animation != nil else { return true }
        return work.wantsAllFrames && frames <= source.frames
            && planes.allSatisfy { plane in
                let size = orientation.displayed(plane.size)
                return size.width <= source.size.width && size.height <= source.size.height
            }
    }
}

extension JobWork {
    /// Where the bytes of its outcome lie.
    var outputArena: ArenaName {
        switch self {
        case .query(let work): work.destination == .results ? .results : .stage
        case .store: .results
        case .fetch, .entry, .decode, .transform, .paint: .stage
        }
    }
}
