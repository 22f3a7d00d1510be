public import ImageModel
import Zlib

// Animations that have no file yet.
extension ImagebusClient {
    /// Bytes of all frames of an animation together, without loss, at most: what a coordinator
    /// takes as one upload, unless it is configured for less.
    public static let animationBytesMax = 64 << 20

    /// How often an animation may be shown; 0: without end. What GIF and WebP can say.
    public static let animationLoops = 0...65_535

    /// Makes an animation of images, in their order, each of which is loaded after its own steps.
    ///
    /// They are loaded without loss, four at a time, joined here, sent to the stack as an upload,
    /// and encoded there as `request` says, whose steps all frames pass through as well. Its format
    /// is GIF unless it names PNG or WebP; it has no URL, and its options for single frames count
    /// for nothing. Of one part alone GIF and WebP have one frame, and PNG is a still image.
    /// Cancelling the awaiting task cancels everything.
    ///
    /// Throws how the load of a part fails, with its number in the details (`frame`); `stepFailed`
    /// where parts have several sizes; `limitExceeded` beyond `AnimationFacts.framesMax` parts and
    /// `animationBytesMax`; `invalidRequest` for durations and loops that cannot be, and for a
    /// format without frames; and how the load of the whole fails.
    public func animation(
        of parts: [AnimationPart], loops: Int = 0, as request: ImageRequest = ImageRequest(url: "")
    ) async throws(ImageError) -> ImageResponse {
        let request = try Self.animating(request)
        let file = try await animationFile(of: parts, loops: loops)
        return try await load(request, uploading: file).response
    }

    /// What is uploaded: an animated PNG of all parts. `told` hears how many there are so far.
    package func animationFile(
        of parts: [AnimationPart], loops: Int, told: (Int) -> Void = { _ in }
    ) async throws(ImageError) -> [UInt8] {
        try Self.check(parts, loops)
        var png = AnimatedPNG(
            frames: parts.count, loops: loops, bytesMax: Self.animationBytesMax)
        var loads = PartLoads(parts, self)
        try await loads.forEach { (index, bytes) throws(ImageError) in
            try bytes.withUnsafeBytes { (file) throws(ImageError) in
                try png.add(file, for: parts[index].duration)
            }
            told(index + 1)
        }
        png.end()
        return png.bytes
    }

    /// How the whole animation is asked for. Throws `invalidRequest` for what has no frames.
    package static func animating(_ request: ImageRequest) throws(ImageError) -> ImageRequest {
        var whole = request
        (whole.frame, whole.infoOnly, whole.facts) = (nil, false, WantedFacts())
        whole.options.subtract([.decodeFirstFrameOnly, .progressiveLoad])
        whole.options.insert(.transformAnimatedImage)
        if whole.output.format == nil, whole.output.accepted.isEmpty { whole.output.format = .gif }
        guard whole.url.isEmpty else {
            throw ImageError(
                .invalidRequest, "an animation that is made of parts has no URL of its own")
        }
        guard whole.animates else {
            throw ImageError(
                .invalidRequest, "no animation can be written so: its format is gif, png or webp")
        }
        return whole
    }

    private static func check(_ parts: [AnimationPart], _ loops: Int) throws(ImageError) {
        guard !parts.isEmpty else {
            throw ImageError(.invalidRequest, "an animation has one frame at least")
        }
        guard parts.count <= AnimationFacts.framesMax else {
            throw ImageError(
                .limitExceeded, "an animation has at most \(AnimationFacts.framesMax) frames",
                details: ["limit": "\(AnimationFacts.framesMax)"])
        }
        guard animationLoops.contains(loops) else {
            throw ImageError(
                .invalidRequest,
                "an animation is shown 1 to \(animationLoops.upperBound) times, or 0: without end")
        }
        let wrong = parts.firstIndex { !AnimationPart.durations.contains($0.duration) }
        if let wrong {
            throw ImageError(.invalidRequest, "a frame is shown for 1 ms to an hour")
                .ofPart(wrong, of: parts.count)
        }
    }
}

/// One frame of an animation that is to be made (`ImagebusClient.animation`): an image, and how
/// long it is shown.
public struct AnimationPart: Sendable {
    /// How the image is loaded: its URL, which is empty where it has bytes, its steps, and of an
    /// animation which frame. What it says of its output counts for nothing.
    public var request: ImageRequest
    /// How long it is shown: 1 ms to an hour. Less than 11 ms is 100 ms, as in any animation
    /// (SEMANTICS §11.30); WebP has whole milliseconds, GIF hundredths of a second.
    public var duration: Duration
    /// The bytes of an image that has no URL.
    let read: (@Sendable () throws(ImageError) -> [UInt8])?

    /// What a part may take.
    public static let durations: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)

    /// An image that has a URL.
    public init(_ request: ImageRequest, for duration: Duration) {
        (self.request, self.duration, read) = (request, duration, nil)
    }

    /// An image whose bytes are asked for when their turn comes, such as those of a file; what is
    /// thrown ends the work. `request` has no URL.
    public init(
        _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration,
        reading read: @escaping @Sendable () throws(ImageError) -> [UInt8]
    ) {
        (self.request, self.duration, self.read) = (request, duration, read)
    }

    /// An image whose bytes are there.
    public init(
        _ bytes: [UInt8], _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration
    ) {
        self.init(request, for: duration) { () throws(ImageError) in bytes }
    }

    /// Pixels of the whole image, without loss.
    var pixels: ImageRequest {
        var wanted = request
        wanted.output = OutputOptions(format: .png, compression: 1)
        (wanted.infoOnly, wanted.facts, wanted.wantsExplanation) = (false, WantedFacts(), false)
        wanted.options.subtract([.transformAnimatedImage, .progressiveLoad])
        wanted.storeCacheTypes.formIntersection(.memory)
        (wanted.context.encodeOptions, wanted.context.serializer) = (nil, nil)
        return wanted
    }
}

/// Loads the images of an animation's frames, some at a time, and hands them over in order. No
/// more are held than are loaded at a time.
struct PartLoads {
    let client: ImagebusClient
    let parts: [AnimationPart]
    private var running: [LoadTask] = []
    private var begun = 0

    init(_ parts: [AnimationPart], _ client: ImagebusClient) {
        (self.parts, self.client) = (parts, client)
    }

    /// Hands over each image. Throws how a load failed, and what `body` throws; the loads that are
    /// left are cancelled then, and so they are with the awaiting task.
    mutating func forEach(
        _ body: (Int, ImageBytes) throws(ImageError) -> Void
    ) async throws(ImageError) {
        defer { for task in running { task.cancel() } }
        for index in parts.indices {
            let most = min(parts.count, index + AnimatedImage.loadsAtATime)
            while begun < most { try begin() }
            do throws(ImageError) {
                guard let bytes = try await running.removeFirst().response.bytes else {
                    throw .noFrameCached
                }
                try body(index, bytes)
            } catch {
                throw error.ofPart(index, of: parts.count)
            }
        }
    }

    private mutating func begin() throws(ImageError) {
        let part = parts[begun]
        do throws(ImageError) {
            let bytes = try part.read?()
            running.append(
                bytes.map { client.load(part.pixels, uploading: $0) } ?? client.load(part.pixels))
        } catch {
            throw error.ofPart(begun, of: parts.count)
        }
        begun += 1
    }
}

extension ImageError {
    /// The same, and which frame it is about.
    func ofPart(_ index: Int, of count: Int) -> ImageError {
        guard code != .cancelled else { return self }
        return ImageError(
            code, "frame \(index) of \(count), counted from 0: \(message)",
            details: details.merging(["frame": "\(index)"]) { detail, _ in detail })
    }
}

/// Joins stills to an animated PNG (PNG specification, third edition, 4.9 and 11.3.4), in the order
/// in which they come. Each is a PNG as the stack writes it (`PNGPixels`), of 8 bits in sRGB.
///
/// As long as all have the same channels, their data are taken as they are; from the first one on
/// that has others, all have red, green, blue and alpha.
struct AnimatedPNG {
    /// The file so far.
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let count: Int
    private let loops: Int
    private let bytesMax: Int
    private var header: PNGPixels.Header?
    private var frames: [Frame] = []
    private var sequence = 0
    private var clock = PNGClock()

    /// Where the data of a frame are in the file.
    private struct Frame {
        let data: Range<Int>
        let duration: Duration
    }

    /// What the last chunk takes.
    private static let endBytes = 12

    /// Of so many frames, shown so often, 0: without end; in so many bytes at most.
    init(frames count: Int, loops: Int, bytesMax: Int) {
        (self.count, self.loops, self.bytesMax) = (count, loops, bytesMax)
    }

    /// The next frame.
    ///
    /// Throws `stepFailed` where it has not the size of the first one, `limitExceeded` where the
    /// file has no room for it, and what `PNGPixels` throws.
    mutating func add(
        _ file: UnsafeRawBufferPointer, for duration: Duration
    ) throws(ImageError) {
        let header = try PNGPixels.Header(file)
        guard let first = self.header else {
            begin(header)
            return try append(PNGPixels.data(of: file), duration)
        }
        guard header.size == first.size else { throw Self.otherSize(header.size, first.size) }
        if header.channels != first.channels, first.channels != 4 { try widen(first) }
        guard header.channels == self.header?.channels else {
            return try append(try Self.wide(PNGPixels.data(of: file), header), duration)
        }
        try append(PNGPixels.data(of: file), duration)
    }

    /// Nothing comes any more.
    mutating func end() { append("IEND", []) }

    private mutating func begin(_ header: PNGPixels.Header) {
        self.header = header
        let sides = Self.word(header.size.width) + Self.word(header.size.height)
        let colour: UInt8 = [1: 0, 2: 4, 3: 2, 4: 6][header.channels] ?? 6
        append("IHDR", sides + [8, colour, 0, 0, 0])
        append("acTL", Self.word(count) + Self.word(loops))
    }

    /// What came so far gets all channels.
    private mutating func widen(_ header: PNGPixels.Header) throws(ImageError) {
        var wide = AnimatedPNG(frames: count, loops: loops, bytesMax: bytesMax)
        wide.begin(PNGPixels.Header(size: header.size, channels: 4))
        for frame in frames {
            let data = Array(bytes[frame.data])
            let rgba = try data.span.bytes.withUnsafeBytes { (data) throws(ImageError) in
                try Self.wide([data], header)
            }
            try wide.append(rgba, frame.duration)
        }
        self = wide
    }

    private static func wide(
        _ data: [UnsafeRawBufferPointer], _ header: PNGPixels.Header
    ) throws(ImageError) -> [UInt8] {
        let rgba = try PNGRows(header.channels).rgba(
            try PNGPixels.inflate(data, header), header)
        do throws(ZlibError) {
            return try Deflater.zlib(PNGRows.differences(rgba, header.size))
        } catch {
            throw ImageError(.internalError, "a frame cannot be compressed: \(error)")
        }
    }

    private mutating func append(_ data: [UInt8], _ duration: Duration) throws(ImageError) {
        try data.span.bytes.withUnsafeBytes { (data) throws(ImageError) in
            try append([data], duration)
        }
    }

    /// A frame that replaces all that was there.
    private mutating func append(
        _ data: [UnsafeRawBufferPointer], _ duration: Duration
    ) throws(ImageError) {
        guard let header else { return }
        let (isFirst, numbers) = (frames.isEmpty, [header.size.width, header.size.height, 0, 0])
        let length = data.reduce(0) { $0 + $1.count }
        guard bytes.count + length + 64 + Self.endBytes <= bytesMax else { throw full }
        let (numerator, denominator) = clock.fraction(of: duration)
        let shown = Self.word(numerator).suffix(2) + Self.word(denominator).suffix(2)
        append("fcTL", ([sequence] + numbers).flatMap(Self.word) + shown + [0, 0])
        let start = open(isFirst ? "IDAT" : "fdAT")
        if !isFirst { bytes += Self.word(sequence + 1) }
        for part in data { bytes += part }
        close(start)
        sequence += isFirst ? 1 : 2
        // Behind the data is the check sum.
        frames.append(
            Frame(data: bytes.count - 4 - length..<bytes.count - 4, duration: duration))
    }

    private mutating func append(_ name: String, _ content: [UInt8]) {
        let start = open(name)
        bytes += content
        close(start)
    }

    /// Begins a chunk with its name; its length is not known yet.
    private mutating func open(_ name: String) -> Int {
        bytes += [0, 0, 0, 0] + Array(name.utf8)
        return bytes.count - 8
    }

    /// Says the length of a chunk, and its check sum.
    private mutating func close(_ start: Int) {
        bytes.replaceSubrange(start..<start + 4, with: Self.word(bytes.count - start - 8))
        let sum = bytes[(start + 4)...].withUnsafeBytes { CRC32.of($0) }
        bytes += Self.word(Int(sum))
    }

    private static func word(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private var full: ImageError {
        ImageError(
            .limitExceeded,
            "all frames together have more than \(bytesMax) bytes without loss, which is what the "
                + "stack takes at once: give fewer of them, or make them smaller with a resize",
            details: ["limit": "\(bytesMax)"])
    }

    private static func otherSize(_ size: PixelSize, _ first: PixelSize) -> ImageError {
        ImageError(
            .stepFailed,
            "it is \(size), and the first one is \(first): give all frames one size, such as with "
                + "--resize \(first) --mode fill")
    }
}

/// Durations as an animated PNG has them: seconds as a fraction of two numbers of 16 bits.
struct PNGClock {
    /// What the frames so far should have taken, and what was written of it; microseconds.
    private var (meant, written) = (0, 0)

    /// In milliseconds up to 65 seconds, in hundredths of a second up to ten minutes, else in
    /// tenths, which reach an hour. What one frame loses by that the next one gets.
    mutating func fraction(of duration: Duration) -> (numerator: Int, denominator: Int) {
        meant += Int(duration / .microseconds(1))
        let left = meant - written
        for denominator in [1_000, 100] {
            let numerator = max(1, (left * denominator + 500_000) / 1_000_000)
            guard numerator <= UInt16.max else { continue }
            written += numerator * 1_000_000 / denominator
            return (numerator, denominator)
        }
        let tenths = min(Int(UInt16.max), (left + 50_000) / 100_000)
        written += tenths * 100_000
        return (tenths, 10)
    }
}
