public import Model
import Zlib

// Creating animations from separate images.
extension ImagebusClient {
    /// The largest total size of all losslessly encoded frames of an animation, in bytes. It is the
    /// coordinator's default limit for one upload.
    public static let animationBytesMax = 64 << 20

    /// The allowed loop counts; 0 means endless. The range is what GIF and WebP can store.
    public static let animationLoops = 0...65_535

    /// Creates an animation from images, in order, each loaded with its own steps.
    ///
    /// The images are loaded losslessly, four at a time, joined here, uploaded to the stack, and
    /// encoded there according to `request`. All frames also pass through the steps of `request`.
    /// Its format is GIF unless it names PNG or WebP. It must not have a URL, and its options for
    /// single frames are ignored. With a single part, GIF and WebP contain one frame, and PNG is a
    /// still image. Canceling the awaiting task cancels everything.
    ///
    /// Throws the error of a part's load, with the part's number in the details (`frame`);
    /// `stepFailed` if the parts differ in size; `limitExceeded` beyond
    /// `AnimationProperties.framesMax` parts or `animationBytesMax`; `invalidRequest` for durations
    /// or loop counts out of range, and for a format that doesn't support animation; and the error
    /// of the final load.
    public func animation(
        of parts: [AnimationPart], loops: Int = 0, as request: ImageRequest = ImageRequest(url: "")
    ) async throws(ImageError) -> ImageResponse {
        let request = try Self.animating(request)
        let file = try await animationFile(of: parts, loops: loops)
        return try await load(request, uploading: file).response
    }

    /// Returns the file to upload: an animated PNG of all parts. `progress` is called with the
    /// number of parts joined so far.
    package func animationFile(
        of parts: [AnimationPart], loops: Int, progress: (Int) -> Void = { _ in }
    ) async throws(ImageError) -> [UInt8] {
        try Self.check(parts, loops)
        var png = AnimatedPNG(
            frames: parts.count, loops: loops, bytesMax: Self.animationBytesMax)
        var loads = PartLoads(parts, self)
        try await loads.forEach { (index, bytes) throws(ImageError) in
            try bytes.withUnsafeBytes { (file) throws(ImageError) in
                try png.add(file, for: parts[index].duration)
            }
            progress(index + 1)
        }
        png.end()
        return png.bytes
    }

    /// Returns the request for the whole animation. Throws `invalidRequest` for a format that
    /// doesn't support animation.
    package static func animating(_ request: ImageRequest) throws(ImageError) -> ImageRequest {
        var whole = request
        (whole.frame, whole.infoOnly, whole.properties) = (nil, false, RequestedProperties())
        whole.options.subtract([.decodeFirstFrameOnly, .progressiveLoad])
        whole.options.insert(.transformAnimatedImage)
        if whole.output.format == nil, whole.output.accepted.isEmpty { whole.output.format = .gif }
        guard whole.url.isEmpty else {
            throw ImageError(
                .invalidRequest, "an animation made of parts must not specify a URL")
        }
        guard whole.animates else {
            throw ImageError(
                .invalidRequest, "the format cannot store an animation: use gif, png or webp")
        }
        return whole
    }

    private static func check(_ parts: [AnimationPart], _ loops: Int) throws(ImageError) {
        guard !parts.isEmpty else {
            throw ImageError(.invalidRequest, "an animation must have at least one frame")
        }
        guard parts.count <= AnimationProperties.framesMax else {
            throw ImageError(
                .limitExceeded,
                "an animation must have at most \(AnimationProperties.framesMax) frames"
            ) { $0.limit = "\(AnimationProperties.framesMax)" }
        }
        guard animationLoops.contains(loops) else {
            throw ImageError(
                .invalidRequest,
                "the number of loops must be 1 to \(animationLoops.upperBound), or 0 for endless")
        }
        let wrong = parts.firstIndex { !AnimationPart.durations.contains($0.duration) }
        if let wrong {
            throw ImageError(.invalidRequest, "the duration of a frame must be 1 ms to 1 hour")
                .ofPart(wrong, of: parts.count)
        }
    }
}

/// One frame of an animation to create (`ImagebusClient.animation`): an image and how long it is
/// shown.
public struct AnimationPart: Sendable {
    /// How the image is loaded: its URL (empty if it has bytes), its steps and, for an animated
    /// source, the frame number. Its output options are ignored.
    public var request: ImageRequest
    /// How long the frame is shown: 1 ms to one hour. As in any animation, less than 11 ms is
    /// played as 100 ms (SEMANTICS §11.30). WebP stores whole milliseconds, GIF hundredths of a
    /// second.
    public var duration: Duration
    /// Reads the bytes of an image that has no URL.
    let read: (@Sendable () throws(ImageError) -> [UInt8])?

    /// The allowed durations of a part.
    public static let durations: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)

    /// Creates a part from an image with a URL.
    public init(_ request: ImageRequest, for duration: Duration) {
        (self.request, self.duration, read) = (request, duration, nil)
    }

    /// Creates a part whose bytes are read when it is about to be loaded, for instance from a file.
    /// An error thrown by `read` ends the whole operation. `request` must not have a URL.
    public init(
        _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration,
        reading read: @escaping @Sendable () throws(ImageError) -> [UInt8]
    ) {
        (self.request, self.duration, self.read) = (request, duration, read)
    }

    /// Creates a part from an image in memory.
    public init(
        _ bytes: [UInt8], _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration
    ) {
        self.init(request, for: duration) { () throws(ImageError) in bytes }
    }

    /// The request for the pixels of the whole image, losslessly encoded.
    var pixels: ImageRequest {
        var wanted = request
        wanted.output = OutputOptions(format: .png, compression: 1)
        (wanted.infoOnly, wanted.properties, wanted.wantsExplanation) = (
            false, RequestedProperties(), false
        )
        wanted.options.subtract([.transformAnimatedImage, .progressiveLoad])
        wanted.storeCacheTypes.formIntersection(.memory)
        (wanted.context.encodeOptions, wanted.context.serializer) = (nil, nil)
        return wanted
    }
}

/// Loads the images of an animation's frames, several at a time, and returns them in order. Never
/// holds more images than are loaded at a time.
struct PartLoads {
    let client: ImagebusClient
    let parts: [AnimationPart]
    private var running: [LoadTask] = []
    private var begun = 0

    init(_ parts: [AnimationPart], _ client: ImagebusClient) {
        (self.parts, self.client) = (parts, client)
    }

    /// Passes each image to `body`. Throws the error of a load or of `body`. Remaining loads are
    /// canceled when it throws or the awaiting task is canceled.
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
    /// Returns the same error with the number of the frame that caused it.
    func ofPart(_ index: Int, of count: Int) -> ImageError {
        guard code != .cancelled else { return self }
        var error = ImageError(code, "frame \(index) of \(count), numbered from 0: \(message)")
        error.includesAdvice = includesAdvice
        error.typedDetails = typedDetails
        if typedDetails[.frame] == nil { error.typedDetails.frame = index }
        return error
    }
}

/// Joins still images to an animated PNG (PNG specification, third edition, 4.9 and 11.3.4), in the
/// order in which they are added. Each is an 8-bit sRGB PNG as the stack writes it (`PNGPixels`).
///
/// While all images have the same channels, their compressed data is copied unchanged. Once one
/// differs, all frames are converted to RGBA.
struct AnimatedPNG {
    /// The file written so far.
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let count: Int
    private let loops: Int
    private let bytesMax: Int
    private var header: PNGPixels.Header?
    private var frames: [Frame] = []
    private var sequence = 0
    private var clock = PNGClock()

    /// The range of a frame's data within the file.
    private struct Frame {
        let data: Range<Int>
        let duration: Duration
    }

    /// The size of the last chunk (`IEND`).
    private static let endBytes = 12

    /// Creates a writer for `count` frames, played `loops` times (0 means endless), in at most
    /// `bytesMax` bytes.
    init(frames count: Int, loops: Int, bytesMax: Int) {
        (self.count, self.loops, self.bytesMax) = (count, loops, bytesMax)
    }

    /// Adds the next frame.
    ///
    /// Throws `stepFailed` if its size differs from that of the first frame, `limitExceeded` if the
    /// file would exceed its limit, and the errors of `PNGPixels`.
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

    /// Ends the file after the last frame.
    mutating func end() { append("IEND", []) }

    private mutating func begin(_ header: PNGPixels.Header) {
        self.header = header
        let sides = Self.word(header.size.width) + Self.word(header.size.height)
        let color: UInt8 = [1: 0, 2: 4, 3: 2, 4: 6][header.channels] ?? 6
        append("IHDR", sides + [8, color, 0, 0, 0])
        append("acTL", Self.word(count) + Self.word(loops))
    }

    /// Converts the frames added so far to RGBA.
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

    /// Appends a frame that replaces the whole canvas.
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
        // The data is followed by the checksum.
        frames.append(
            Frame(data: bytes.count - 4 - length..<bytes.count - 4, duration: duration))
    }

    private mutating func append(_ name: String, _ content: [UInt8]) {
        let start = open(name)
        bytes += content
        close(start)
    }

    /// Begins a chunk by name, with a placeholder for its length.
    private mutating func open(_ name: String) -> Int {
        bytes += [0, 0, 0, 0] + Array(name.utf8)
        return bytes.count - 8
    }

    /// Fills in a chunk's length and appends its checksum.
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
            "the frames exceed a total of \(bytesMax) bytes in lossless form, the limit of one "
                + "upload: use fewer frames, or make them smaller with a resize"
        ) { $0.limit = "\(bytesMax)" }
    }

    private static func otherSize(_ size: PixelSize, _ first: PixelSize) -> ImageError {
        ImageError(
            .stepFailed,
            "it is \(size), but the first one is \(first): make all frames the same size, such as "
                + "with --resize \(first) --mode fill")
    }
}

/// Converts durations to the form used in animated PNG: fractions of a second with a 16-bit
/// numerator and denominator.
struct PNGClock {
    /// The total duration of the frames so far, intended and as written, in microseconds.
    private var (meant, written) = (0, 0)

    /// Returns milliseconds for durations up to 65 seconds, hundredths of a second up to ten
    /// minutes, otherwise tenths, which reach beyond one hour. The rounding error of one frame is
    /// carried over to the next.
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
