import Model
import TestKit

/// Draws random values within the limits of the protocol; extreme values are frequent.
struct RandomValues {
    var source: SeededGenerator

    private static let characters = ["abcdefgh", "/", "%", "é", "→", "🖼", "\u{1}", "\u{7F}"]

    init(seed: UInt64) { source = SeededGenerator(seed: seed) }

    mutating func number<Number: FixedWidthInteger>(
        _ range: ClosedRange<Number> = Number.min...Number.max
    ) -> Number {
        switch UInt64.random(in: 0..<6, using: &source) {
        case 0: range.lowerBound
        case 1: range.upperBound
        case 2: min(range.upperBound, max(range.lowerBound, 1))
        default: Number.random(in: range, using: &source)
        }
    }

    mutating func bool() -> Bool { Bool.random(using: &source) }

    mutating func word<Word: CaseIterable>(_ type: Word.Type = Word.self) -> Word {
        guard let word = type.allCases.randomElement(using: &source) else {
            preconditionFailure("an enumeration has cases")
        }
        return word
    }

    mutating func maybe<Value>(_ value: (inout RandomValues) -> Value) -> Value? {
        bool() ? value(&self) : nil
    }

    mutating func list<Value>(_ range: ClosedRange<Int>, _ value: (inout RandomValues) -> Value)
        -> [Value]
    {
        (0..<number(range)).map { _ in value(&self) }
    }

    /// Text of up to `limit` bytes: one to four bytes per character, often empty.
    mutating func text(_ limit: Int = 64) -> String {
        let length = number(0...limit)
        var text = ""
        var count = 0
        while true {
            let next = Self.characters[Int.random(in: 0..<8, using: &source)]
            count += next.utf8.count
            if count > length { return text }
            text += next
        }
    }

    mutating func identifier() -> Identifier128 { Identifier128(high: number(), low: number()) }
    mutating func tiers() -> CacheTypes { CacheTypes(rawValue: number(0...3)) }

    mutating func finite() -> Double {
        let value = Double(bitPattern: number())
        return value.isFinite ? value : 0.1
    }

    /// A text of a restricted form.
    mutating func formed<Text>() -> Text? {
        let place = Double(number(0...1_000)) / 1_000
        let sides: [RelativeSize.Side] = [.percent(place * 100), .pixels(number(1...9_999))]
        return switch Text.self {
        case is Gravity.Type:
            [.point(x: place, y: 1 - place), .center, .attention][number(0...2)] as Gravity as? Text
        case is RelativeSize.Type:
            RelativeSize(width: sides[number(0...1)], height: sides[number(0...1)]) as? Text
        // An absent mode means normal.
        case is BlendMode.Type: BlendMode(rawValue: number(1...27)) as? Text
        case is PoolName.Type: poolName() as? Text
        case is RequestID.Type: RequestID(identifier()) as? Text
        default: trace() as? Text
        }
    }

    mutating func poolName() -> PoolName {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        let rest = (0..<number(0...PoolName.bytesMax - 1)).map { _ in
            letters[number(0...letters.count - 1)]
        }
        guard let name = PoolName("p" + String(decoding: rest, as: UTF8.self)) else {
            preconditionFailure("such names are permitted")
        }
        return name
    }

    mutating func layout() -> PixelLayout {
        let isPlanar = bool()
        var layout = PixelLayout(
            planes: (0..<(isPlanar ? 3 : 1)).map { _ in plane(isPlanar ? .gray : word()) },
            orientation: Orientation(exif: number(1...8)))
        if !isPlanar { layout.samples = samples(layout.planes[0].bands) }
        if number(0...3) == 0 { layout = frames() }
        layout.embeddedMetadata = EmbeddedMetadata.Kind.allCases.filter { _ in bool() }.map {
            kind in
            EmbeddedMetadata(
                kind: kind, offset: number(0...1_000_000), length: number(1...kind.bytesMax))
        }
        return layout
    }

    /// Frames stored one after the other.
    private mutating func frames() -> PixelLayout {
        let size = PixelSize(width: number(1...4_000), height: number(1...4_000))
        var layout = PixelLayout(
            bands: .rgba, size: size, stride: 4 * size.width + number(0...64))
        layout.orientation = Orientation(exif: number(1...8))
        layout.animation = AnimationProperties(
            durations: list(2...20) { $0.number(1...9_000_000) }, loops: number(0...70_000),
            plays: number(0...70_000))
        return layout
    }

    /// A valid sample form for pixels of these bands: offset and stride of `plane` are even.
    private mutating func samples(_ bands: PixelPlane.Bands) -> SampleForm {
        guard bool() else { return .standard }
        let hasColors = bands == .rgb || bands == .rgba
        return SampleForm(
            bits: number(9...16),
            hdr: hasColors && bool() ? HDRColors(primaries: word(), transfer: word()) : nil)
    }

    private mutating func plane(_ bands: PixelPlane.Bands) -> PixelPlane {
        let size = PixelSize(width: number(1...40_000), height: number(1...40_000))
        let row = size.width * Int(bands.rawValue)
        return PixelPlane(
            bands: bands, offset: 2 * number(0...500_000), size: size,
            stride: 2 * (row + number(0...64)),
            activeWidth: Double(size.width) - Double(number(0...3)) / 4,
            activeHeight: Double(size.height) - Double(number(0...3)) / 4)
    }

    mutating func error() -> ImageError {
        let details = list(0...MessageLimits.detailsMax) { ($0.text(24), $0.text(1000)) }
        var error = ImageError(
            word(), text(MessageLimits.textBytesMax),
            details: Dictionary(details) { first, _ in first })
        error.external = maybe {
            ExternalFailure(
                domain: $0.text(ExternalFailure.domainBytesMax), code: $0.number(),
                blocks: $0.bool())
        }
        return error
    }

    mutating func histogram() -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for _ in 0..<20 { histogram.record(microseconds: number()) }
        return histogram
    }

    mutating func trace() -> TraceContext? {
        TraceContext(trace: identifier(), parent: number(), flags: number())
    }
}
