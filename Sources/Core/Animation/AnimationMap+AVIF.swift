import ImageModel

/// AVIF image sequences (AV1 Image File Format, 6.3): each frame is the whole canvas. That frames
/// are made of others is a matter of their codec.
extension AnimationMap {
    /// Samples of one file at most.
    private static let samplesMax = 1 << 20

    init?(avif file: borrowing HeaderBytes, framesMax: Int) {
        guard let sequence = file.avifSequence else { return nil }
        self.init(.avif, canvas: sequence.main.size, plays: sequence.main.plays)
        end = walk(avif: file, sequence, min(framesMax, Self.samplesMax))
    }

    private mutating func walk(
        avif file: borrowing HeaderBytes, _ sequence: PictureSequence, _ framesMax: Int
    ) -> End {
        var colours = SampleWalk(sequence.main, in: file)
        var alpha = sequence.auxiliary.map { SampleWalk($0, in: file) }
        let whole = PixelRect(x: 0, y: 0, size: canvas)
        for _ in 0..<sequence.main.count {
            guard frames.count < framesMax else { return .limit }
            guard let sample = colours.next(in: file) else { return .broken }
            var parts = [sample.range]
            if alpha != nil {
                guard let sample = alpha?.next(in: file) else { return .broken }
                parts.append(sample.range)
            }
            for part in parts where file.byte(part.upperBound - 1) == nil { return .cut }
            frames.append(
                FrameRecord(
                    area: whole, duration: duration(sample, sequence.main), disposal: .keep,
                    blending: .replace, mayBeTransparent: alpha != nil, parts: parts))
        }
        return .whole
    }

    /// Of a track that says no parts of a second a frame says nothing.
    private func duration(_ sample: SampleWalk.Sample, _ track: PictureTrack) -> Int {
        guard track.timescale > 0 else { return FrameTiming.usual }
        return min(
            FrameTiming.duration(numerator: sample.duration, denominator: track.timescale),
            Int(UInt32.max))
    }
}
