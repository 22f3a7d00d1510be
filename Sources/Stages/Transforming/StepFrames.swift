import ImageModel
import Messages
import Vips

/// The frames of an animation after the steps of a job. Each is made when it is asked for, so that
/// one of them is in memory at a time.
struct StepFrames {
    /// Of every frame.
    let size: PixelSize
    let times: FrameTimes
    private let make: (Int) throws(ImageError) -> StepImage

    /// - Parameter make: the frame of a number, after the steps.
    /// - Throws: `limitExceeded` if the pixels of all of them are too many bytes; what `make`
    ///   throws.
    init(
        _ animation: AnimationFacts, limits: ImageLimits,
        make: @escaping (Int) throws(ImageError) -> StepImage
    ) throws(ImageError) {
        times = FrameTimes(animation)
        size = try make(0).size
        self.make = make
        let most = limits.pixelBytesMax / Self.bands
        guard let area = size.area, area <= most / times.count else {
            throw .over(
                "pixelBytesMax", "encode",
                "\(times.count) frames of \(size) are over the limit: ask for a smaller size")
        }
    }

    /// Samples of a pixel.
    static let bands = 4

    var count: Int { times.count }

    /// Bytes of one frame.
    var byteCount: Int { Self.bands * size.width * size.height }

    /// Lends the pixels of a frame: RGBA of 8 bits in sRGB, rows without gaps.
    ///
    /// - Throws: `stepFailed` where a step made it of another size than the first one.
    func withPixels<Value>(
        of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value {
        let frame = try make(index)
        guard frame.size == size else {
            throw ImageError.step(
                "encode",
                "frame \(index) became \(frame.size) and the first one \(size), and frames have "
                    + "one size: leave out trim, or ask for one frame by its number")
        }
        let coloured = try frame.image.coloured()
        let image = try coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        return try image.withPixels { pixels throws(VipsError) in
            Result { try body(pixels) }
        }.get()
    }
}
