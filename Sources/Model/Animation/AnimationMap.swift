/// The frames of an animated file, as far as its bytes have arrived. Parsed without a codec from
/// untrusted input, in time linear in the number of parts of the file.
package struct AnimationMap: Hashable, Sendable {
    /// Why parsing stopped.
    package enum End: Hashable, Sendable {
        /// The end that the file declares was reached.
        case whole
        /// The available bytes end here; more may follow.
        case cut
        /// The file violates its format.
        case broken
        /// The requested maximum number of frames was reached.
        case limit
    }

    package let format: ImageFormat
    /// The size at which every frame is displayed.
    package var canvas: PixelSize
    /// How often all frames are played; 0 for an infinite loop.
    package var plays: Int
    /// SDWebImage's loop count: the number stored in a GIF, otherwise `plays`.
    package var loops: Int { repetitions ?? plays }
    /// The repeat count stored in a GIF, 0 for an infinite loop; `nil` if the file has none, and
    /// for other formats.
    var repetitions: Int?
    /// The complete frames, in order. If `isLastOpen`, the last one may be incomplete.
    package var frames: [FrameRecord] = []
    /// Whether the last frame may have further parts beyond the available bytes.
    package var isLastOpen = false
    /// Parts of the file that every frame needs in addition to its own. Only the first part of each
    /// kind is listed because the formats permit no more.
    package var shared: [Range<Int>] = []
    package var end = End.cut

    /// Parses a file. Returns `nil` for a format without this kind of frames, for a still image,
    /// and as long as the available bytes do not settle it.
    package init?(_ bytes: Span<UInt8>, framesMax: Int) {
        let file = HeaderBytes(bytes)
        let format = ImageFormat(file: bytes)
        switch format {
        case .gif: self.init(gif: file, framesMax: framesMax)
        case .png: self.init(png: file, framesMax: framesMax)
        case .webp: self.init(webP: file, framesMax: framesMax)
        case .avif: self.init(avif: file, framesMax: framesMax)
        default: return nil
        }
    }

    /// A map without frames.
    init(_ format: ImageFormat, canvas: PixelSize, plays: Int) {
        (self.format, self.canvas, self.plays) = (format, canvas, plays)
    }

    /// The number of frames that are certainly complete.
    package var wholeFrames: Int { frames.count - (isLastOpen ? 1 : 0) }

    /// The size in bytes of the shared parts, which are read again for each frame.
    package var sharedBytes: Int { shared.reduce(0) { $0 + $1.count } }

    /// The number of pixels of all frames as they are decoded.
    package var pixelCount: Int { frames.reduce(0) { $0 + $1.pixelCount } }

    /// The duration of one loop, in microseconds.
    package var duration: Int { frames.reduce(0) { $0 + $1.duration } }

    /// Returns the frame from which the canvas must be drawn so that frame `index` is correct.
    /// Returns `drawn` if all frames before it are already drawn and no later start is possible.
    func start(of index: Int, drawn: Int) -> Int {
        var start = index
        let least = drawn <= index ? drawn : 0
        while start > least {
            let before = frames[start - 1]
            if before.disposal == .clear, before.covers(canvas) { return start }
            start -= 1
            // Frames that it hides are needed only if its disposal restores them.
            if frames[start].hides(canvas), frames[start].disposal != .restore { return start }
        }
        return start
    }
}

/// One frame of an animation as the file describes it: where its pixels are, and how they are
/// composited.
package struct FrameRecord: Hashable, Sendable {
    /// How the canvas changes after the frame was displayed, before the next one is drawn.
    package enum Disposal: Hashable, Sendable {
        /// The canvas is left as it is.
        case keep
        /// The area of the frame becomes transparent.
        case clear
        /// The canvas is restored to its state before the frame was drawn.
        case restore
    }

    /// How the pixels of the frame are composited onto the canvas.
    package enum Blending: Hashable, Sendable {
        /// They replace the canvas, including alpha.
        case replace
        /// They are composited over the canvas.
        case over
    }

    /// The area of the frame on the canvas. In a GIF it may extend beyond the canvas, partly or
    /// completely; pixels outside are not drawn.
    package var area: PixelRect
    /// The number of decoded pixels, including those outside the canvas.
    package var pixelCount: Int { max(0, area.size.width) * max(0, area.size.height) }
    /// How long the frame is displayed, in microseconds (`FrameTiming`).
    package var duration: Int
    package var disposal: Disposal
    package var blending: Blending
    /// Whether some pixels may be transparent.
    package var mayBeTransparent: Bool
    /// The ranges of the file that hold the encoded pixels, in order. What else a range contains
    /// depends on the format.
    package var parts: [Range<Int>]

    /// Returns whether the frame hides everything on a canvas of the given size.
    func hides(_ canvas: PixelSize) -> Bool {
        covers(canvas) && (blending == .replace || !mayBeTransparent)
    }

    /// Returns whether the frame covers every pixel of a canvas of the given size.
    func covers(_ canvas: PixelSize) -> Bool {
        area.intersection(with: canvas)?.size == canvas
    }
}

/// Normalizes frame durations (SEMANTICS §11.30).
package enum FrameTiming {
    /// The default, in microseconds, for files that state no duration or too short a one.
    package static let defaultDuration = 100_000

    /// The shortest duration in microseconds that is honored. Durations below 11 ms are never
    /// intended; browsers have always displayed such frames for 100 ms.
    private static let least = 11_000

    /// Returns the duration for a value in microseconds stated by a file.
    package static func duration(stated: Int) -> Int {
        stated < least ? defaultDuration : stated
    }

    /// Returns the duration for a fraction of a second. A denominator of 0 means 100 (PNG
    /// specification, third edition, 11.3.4.2).
    static func duration(numerator: Int, denominator: Int) -> Int {
        let denominator = denominator == 0 ? 100 : denominator
        return duration(stated: (numerator * 1_000_000 + denominator / 2) / denominator)
    }
}

/// GIF89a, specification of 31 July 1990.
extension AnimationMap {
    /// The size in bytes of the header and the logical screen descriptor.
    private static let screenBytes = 13

    init?(gif file: borrowing HeaderBytes, framesMax: Int) {
        guard let canvas = file.gifSize, canvas.isPositive, let flags = file.byte(10) else {
            return nil
        }
        // Played once unless an extension overrides it.
        self.init(.gif, canvas: canvas, plays: 1)
        let table = Self.screenBytes..<Self.screenBytes + Self.tableBytes(flags)
        guard table.isEmpty || file.byte(table.upperBound - 1) != nil else { return }
        shared = [table]
        end = walk(gif: file, from: table.upperBound, framesMax)
    }

    /// The size in bytes of a color table, which is present if the highest bit is set. The number
    /// of colors is a power of two.
    private static func tableBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }

    private mutating func walk(
        gif file: borrowing HeaderBytes, from start: Int, _ framesMax: Int
    ) -> End {
        var (offset, control) = (start, GraphicControl())
        while let introducer = file.byte(offset) {
            switch introducer {
            case 0x3B: return .whole
            // Some encoders write extra zeros; decoders skip them.
            case 0: offset += 1
            case 0x21:
                guard let next = file.gifBlocksEnd(offset + 2) else { return .cut }
                readExtension(file, at: offset, &control)
                offset = next
            case 0x2C:
                guard frames.count < framesMax else { return .limit }
                guard let flags = file.byte(offset + 9),
                    let next = file.gifBlocksEnd(offset + 11 + Self.tableBytes(flags))
                else { return .cut }
                guard let frame = control.frame(file, offset..<next) else { return .broken }
                frames.append(frame)
                (offset, control) = (next, GraphicControl())
            default: return .broken
            }
        }
        return .cut
    }

    /// Returns whether an application extension is one of the two that hold the loop count.
    private static func saysLoops(_ file: borrowing HeaderBytes, at offset: Int) -> Bool {
        file.has("NETSCAPE2.0", at: offset + 3) || file.has("ANIMEXTS1.0", at: offset + 3)
    }

    private mutating func readExtension(
        _ file: borrowing HeaderBytes, at offset: Int, _ control: inout GraphicControl
    ) {
        switch file.byte(offset + 1) {
        case 0xF9 where file.byte(offset + 2) == 4:
            control = GraphicControl(file, at: offset)
        case 0xFF where Self.saysLoops(file, at: offset):
            guard let size = file.byte(offset + 14), size >= 3, file.byte(offset + 15) == 1,
                let count = file.littleEndian(2, at: offset + 16)
            else { return }
            repetitions = count
            plays = count == 0 ? 0 : count + 1
        default: return
        }
    }
}

/// The content of a graphic control extension, which applies to the image that follows. Without
/// one, the image is kept.
private struct GraphicControl {
    private var part: Range<Int>?
    private var flags: UInt8 = 0
    private var hundredths = 0

    init() {}

    /// Parses an extension that is complete.
    init(_ file: borrowing HeaderBytes, at offset: Int) {
        part = offset..<offset + 8
        flags = file.byte(offset + 3) ?? 0
        hundredths = file.littleEndian(2, at: offset + 4) ?? 0
    }

    private var disposal: FrameRecord.Disposal {
        switch flags >> 2 & 7 {
        case 2: .clear
        // Some encoders write 4 instead of 3.
        case 3, 4: .restore
        default: .keep
        }
    }

    private var isTransparent: Bool { flags & 1 != 0 }

    /// Returns the image whose descriptor and data are in this range. An empty image is displayed
    /// for its duration like any other but draws nothing.
    func frame(_ file: borrowing HeaderBytes, _ image: Range<Int>) -> FrameRecord? {
        let offset = image.lowerBound
        guard let x = file.littleEndian(2, at: offset + 1),
            let y = file.littleEndian(2, at: offset + 3),
            let size = file.littleSides(2, at: offset + 5)
        else { return nil }
        return FrameRecord(
            area: PixelRect(x: x, y: y, size: size),
            duration: FrameTiming.duration(stated: hundredths * 10_000), disposal: disposal,
            blending: .over, mayBeTransparent: isTransparent,
            parts: (isTransparent ? part.map { [$0] } ?? [] : []) + [image])
    }
}

extension HeaderBytes {
    /// Returns the offset after the sub-blocks that begin at `start`; `nil` if they are
    /// unterminated.
    func gifBlocksEnd(_ start: Int) -> Int? {
        var offset = start
        while let count = byte(offset) {
            offset += 1 + Int(count)
            if count == 0 { return offset }
        }
        return nil
    }
}

/// Animated PNG (PNG specification, third edition, 4.9 and 11.3.4). The default image is a frame
/// only if a frame control chunk precedes it.
extension AnimationMap {
    /// The maximum number of chunks in a file.
    private static let pngChunksMax = 1 << 20
    /// Chunks that apply to all frames; a file contains at most one of each.
    private static let shared: [StaticString] = [
        "PLTE", "tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "sBIT", "cICP",
    ]

    init?(png file: borrowing HeaderBytes, framesMax: Int) {
        guard let canvas = file.pngSize, canvas.isPositive, file.pngFrames != nil else {
            return nil
        }
        self.init(.png, canvas: canvas, plays: 0)
        end = walk(png: file, framesMax)
        // Complete data can be displayed; a frame control without pixels cannot.
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

    /// Returns whether this is the first chunk of a kind that every frame needs.
    private func isShared(_ file: borrowing HeaderBytes, _ kind: Int) -> Bool {
        for name in Self.shared where file.has(name, at: kind) {
            for part in shared where file.has(name, at: part.lowerBound + 4) { return false }
            return true
        }
        return false
    }

    /// Returns whether the sequence number is the expected one. Frame controls and frame data share
    /// one sequence.
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
        // The first frame has no previous state to restore.
        let kept: FrameRecord.Disposal = disposal == 1 ? .clear : .restore
        return FrameRecord(
            area: area,
            duration: FrameTiming.duration(numerator: numerator, denominator: denominator),
            disposal: disposal == 0 ? .keep : frames.isEmpty ? .clear : kept,
            blending: blending == 0 ? .replace : .over, mayBeTransparent: isTransparent,
            parts: [])
    }
}

/// Animated WebP (RFC 9649 §2.7).
extension AnimationMap {
    /// The maximum number of chunks in a file.
    private static let webPChunksMax = 1 << 20

    init?(webP file: borrowing HeaderBytes, framesMax: Int) {
        guard file.has("VP8X", at: 12), let flags = file.byte(20), flags & 2 != 0,
            let canvas = file.webPSize, canvas.isPositive,
            let count = file.littleEndian(4, at: 4)
        else { return nil }
        self.init(.webp, canvas: canvas, plays: 0)
        // The length in the header is authoritative: trailing bytes are ignored.
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
                // The padding byte of an odd-sized chunk may be missing at the end of a file.
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
            let sides = file.littleSides(3, at: start + 6),
            let milliseconds = file.littleEndian(3, at: start + 12),
            let flags = file.byte(start + 15)
        else { return nil }
        let area = PixelRect(
            x: 2 * x, y: 2 * y,
            size: PixelSize(width: sides.width + 1, height: sides.height + 1))
        guard area.intersection(with: canvas) == area else { return nil }
        let pixels = start + 16..<body.upperBound
        return FrameRecord(
            area: area, duration: FrameTiming.duration(stated: milliseconds * 1_000),
            disposal: flags & 1 == 0 ? .keep : .clear, blending: flags & 2 == 0 ? .over : .replace,
            mayBeTransparent: !file.has("VP8 ", at: pixels.lowerBound), parts: [pixels])
    }
}

/// AVIF image sequences (AV1 Image File Format, 6.3): each frame covers the whole canvas.
/// Dependencies between frames are left to the codec.
extension AnimationMap {
    /// The maximum number of samples in a file.
    private static let samplesMax = 1 << 20

    init?(avif file: borrowing HeaderBytes, framesMax: Int) {
        guard let sequence = file.avifSequence else { return nil }
        self.init(.avif, canvas: sequence.main.size, plays: sequence.main.plays)
        end = walk(avif: file, sequence, min(framesMax, Self.samplesMax))
    }

    private mutating func walk(
        avif file: borrowing HeaderBytes, _ sequence: PictureSequence, _ framesMax: Int
    ) -> End {
        var colors = SampleWalk(sequence.main, in: file)
        var alpha = sequence.auxiliary.map { SampleWalk($0, in: file) }
        let whole = PixelRect(x: 0, y: 0, size: canvas)
        for _ in 0..<sequence.main.count {
            guard frames.count < framesMax else { return .limit }
            guard let sample = colors.next(in: file) else { return .broken }
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

    /// A track without a timescale states no frame durations.
    private func duration(_ sample: SampleWalk.Sample, _ track: PictureTrack) -> Int {
        guard track.timescale > 0 else { return FrameTiming.defaultDuration }
        return min(
            FrameTiming.duration(numerator: sample.duration, denominator: track.timescale),
            Int(UInt32.max))
    }
}
