import ImageModel

/// Animated WebP (RFC 9649 §2.7).
extension AnimationMap {
    /// Chunks of one file at most.
    private static let webPChunksMax = 1 << 20

    init?(webP file: borrowing HeaderBytes, framesMax: Int) {
        guard file.has("VP8X", at: 12), let flags = file.byte(20), flags & 2 != 0,
            let canvas = file.webPSize, canvas.isPositive,
            let count = file.littleEndian(4, at: 4)
        else { return nil }
        self.init(.webp, canvas: canvas, plays: 0)
        // What the file says of its length counts: bytes behind it are nothing of it.
        end = walk(webP: file, to: 8 + count, framesMax)
    }

    private mutating func walk(
        webP file: borrowing HeaderBytes, to fileEnd: Int, _ framesMax: Int
    ) -> End {
        var offset = 12
        for _ in 0..<Self.webPChunksMax {
            guard offset < fileEnd else { return .whole }
            guard let count = file.littleEndian(4, at: offset + 4) else { return .cut }
            let body = offset + 8..<offset + 8 + count
            guard body.upperBound <= fileEnd else { return .broken }
            guard count == 0 || file.byte(body.upperBound - 1) != nil else { return .cut }
            if file.has("ANIM", at: offset) {
                plays = file.littleEndian(2, at: body.lowerBound + 4) ?? 0
            } else if file.has("ICCP", at: offset), shared.isEmpty {
                // The last chunk of a file may lack the byte that makes its length even.
                let end = body.upperBound + count % 2
                shared.append(offset..<(file.byte(end - 1) == nil ? body.upperBound : end))
            } else if file.has("ANMF", at: offset) {
                guard frames.count < framesMax else { return .limit }
                guard let frame = frame(file, body) else { return .broken }
                frames.append(frame)
            }
            offset = body.upperBound + count % 2
        }
        return .limit
    }

    private func frame(_ file: borrowing HeaderBytes, _ body: Range<Int>) -> FrameRecord? {
        let start = body.lowerBound
        guard body.count > 16, let x = file.littleEndian(3, at: start),
            let y = file.littleEndian(3, at: start + 3),
            let width = file.littleEndian(3, at: start + 6),
            let height = file.littleEndian(3, at: start + 9),
            let milliseconds = file.littleEndian(3, at: start + 12),
            let flags = file.byte(start + 15)
        else { return nil }
        let area = PixelRect(
            x: 2 * x, y: 2 * y, size: PixelSize(width: width + 1, height: height + 1))
        guard area.intersection(with: canvas) == area else { return nil }
        let pixels = start + 16..<body.upperBound
        return FrameRecord(
            area: area, duration: FrameTiming.duration(stated: milliseconds * 1_000),
            disposal: flags & 1 == 0 ? .keep : .clear, blending: flags & 2 == 0 ? .over : .replace,
            mayBeTransparent: !file.has("VP8 ", at: pixels.lowerBound), parts: [pixels])
    }
}
