import ImageModel

/// Animated PNG (PNG specification, third edition, 4.9 and 11.3.4). The default image is a frame
/// where a frame control stands in front of it, else it is none.
extension AnimationMap {
    /// Chunks of one file at most.
    private static let pngChunksMax = 1 << 20
    /// A file has one of each at most.
    private static let shared: [StaticString] = [
        "PLTE", "tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "sBIT", "cICP",
    ]

    init?(png file: borrowing HeaderBytes, framesMax: Int) {
        guard let canvas = file.pngSize, canvas.isPositive, file.pngFrames != nil else {
            return nil
        }
        self.init(.png, canvas: canvas, plays: 0)
        end = walk(png: file, framesMax)
        // What is whole can be shown; a frame control without pixels cannot.
        if frames.last?.parts.isEmpty == true {
            frames.removeLast()
        } else {
            isLastOpen = end == .cut && !frames.isEmpty
        }
    }

    private mutating func walk(png file: borrowing HeaderBytes, _ framesMax: Int) -> End {
        var (offset, next, isTransparent) = (8, 0, file.byte(25).map { $0 & 4 != 0 } ?? true)
        for _ in 0..<Self.pngChunksMax {
            guard let count = file.bigEndian(4, at: offset) else { return .cut }
            let body = offset + 8..<offset + 8 + count
            guard file.byte(body.upperBound + 3) != nil else { return .cut }
            let kind = offset + 4
            if file.has("IEND", at: kind) {
                return .whole
            } else if file.has("acTL", at: kind) {
                plays = file.bigEndian(4, at: offset + 12) ?? 0
            } else if file.has("fcTL", at: kind) {
                guard isNext(&next, file, body.lowerBound) else { return .broken }
                guard frames.last?.parts.isEmpty != true else { return .broken }
                guard frames.count < framesMax else { return .limit }
                guard let frame = frame(file, body, isTransparent) else { return .broken }
                frames.append(frame)
            } else if file.has("IDAT", at: kind) {
                if frames.count == 1 { frames[0].parts.append(body) }
            } else if file.has("fdAT", at: kind) {
                guard isNext(&next, file, body.lowerBound), count >= 4, !frames.isEmpty else {
                    return .broken
                }
                frames[frames.count - 1].parts.append(body.lowerBound + 4..<body.upperBound)
            } else if frames.allSatisfy(\.parts.isEmpty), isShared(file, kind) {
                if file.has("tRNS", at: kind) { isTransparent = true }
                shared.append(offset..<body.upperBound + 4)
            }
            offset = body.upperBound + 4
        }
        return .limit
    }

    /// Whether each frame needs the chunk of that kind, which is the first one of it.
    private func isShared(_ file: borrowing HeaderBytes, _ kind: Int) -> Bool {
        for name in Self.shared where file.has(name, at: kind) {
            for part in shared where file.has(name, at: part.lowerBound + 4) { return false }
            return true
        }
        return false
    }

    /// Frame controls and frame data are numbered in one row.
    private func isNext(
        _ next: inout Int, _ file: borrowing HeaderBytes, _ offset: Int
    ) -> Bool {
        defer { next += 1 }
        return file.bigEndian(4, at: offset) == next
    }

    private func frame(
        _ file: borrowing HeaderBytes, _ body: Range<Int>, _ isTransparent: Bool
    ) -> FrameRecord? {
        let start = body.lowerBound
        guard body.count == 26, let width = file.bigEndian(4, at: start + 4),
            let height = file.bigEndian(4, at: start + 8),
            let x = file.bigEndian(4, at: start + 12), let y = file.bigEndian(4, at: start + 16),
            let numerator = file.bigEndian(2, at: start + 20),
            let denominator = file.bigEndian(2, at: start + 22),
            let disposal = file.byte(start + 24), let blending = file.byte(start + 25)
        else { return nil }
        let area = PixelRect(x: x, y: y, size: PixelSize(width: width, height: height))
        guard area.intersection(with: canvas) == area, disposal <= 2, blending <= 1 else {
            return nil
        }
        // There is nothing before the first frame that could come back.
        let kept: FrameRecord.Disposal = disposal == 1 ? .clear : .restore
        return FrameRecord(
            area: area,
            duration: FrameTiming.duration(numerator: numerator, denominator: denominator),
            disposal: disposal == 0 ? .keep : frames.isEmpty ? .clear : kept,
            blending: blending == 0 ? .replace : .over, mayBeTransparent: isTransparent,
            parts: [])
    }
}
