import ImageModel

/// GIF89a, specification of 31 July 1990.
extension AnimationMap {
    /// Bytes of a header and the logical screen.
    private static let screenBytes = 13

    init?(gif file: borrowing HeaderBytes, framesMax: Int) {
        guard let canvas = file.gifSize, canvas.isPositive, let flags = file.byte(10) else {
            return nil
        }
        // Played once where no extension says otherwise.
        self.init(.gif, canvas: canvas, plays: 1)
        let table = Self.screenBytes..<Self.screenBytes + Self.tableBytes(flags)
        guard table.isEmpty || file.byte(table.upperBound - 1) != nil else { return }
        shared = [table]
        end = walk(gif: file, from: table.upperBound, framesMax)
    }

    /// A table of colours follows where the highest bit is set, of a power of two.
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
            // Encoders have written more zeros than the format has: readers pass over them.
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

    /// Whether an application extension is one of the two that say how often.
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

/// What a graphic control extension says of the image behind it; none says that it stays.
private struct GraphicControl {
    private var part: Range<Int>?
    private var flags: UInt8 = 0
    private var hundredths = 0

    init() {}

    /// Of one that is there as a whole.
    init(_ file: borrowing HeaderBytes, at offset: Int) {
        part = offset..<offset + 8
        flags = file.byte(offset + 3) ?? 0
        hundredths = file.littleEndian(2, at: offset + 4) ?? 0
    }

    private var disposal: FrameRecord.Disposal {
        switch flags >> 2 & 7 {
        case 2: .clear
        // 4 is what some encoders wrote for 3.
        case 3, 4: .restore
        default: .keep
        }
    }

    private var isTransparent: Bool { flags & 1 != 0 }

    /// The image whose descriptor and bytes lie there; one of no size is shown as all others, and
    /// draws nothing.
    func frame(_ file: borrowing HeaderBytes, _ image: Range<Int>) -> FrameRecord? {
        let offset = image.lowerBound
        guard let x = file.littleEndian(2, at: offset + 1),
            let y = file.littleEndian(2, at: offset + 3),
            let width = file.littleEndian(2, at: offset + 5),
            let height = file.littleEndian(2, at: offset + 7)
        else { return nil }
        return FrameRecord(
            area: PixelRect(x: x, y: y, size: PixelSize(width: width, height: height)),
            duration: FrameTiming.duration(stated: hundredths * 10_000), disposal: disposal,
            blending: .over, mayBeTransparent: isTransparent,
            parts: (isTransparent ? part.map { [$0] } ?? [] : []) + [image])
    }
}

extension HeaderBytes {
    /// The offset behind the sub-blocks that begin there; `nil` where they do not end.
    func gifBlocksEnd(_ start: Int) -> Int? {
        var offset = start
        while let count = byte(offset) {
            offset += 1 + Int(count)
            if count == 0 { return offset }
        }
        return nil
    }
}
