public import ImageModel

/// As what the frames of an animation are held.
public enum FrameForm: Hashable, Sendable {
    /// Encoded, as the request says. They take what their files take.
    case encoded
    /// As pixels: four bytes each. What the request says of its output is replaced: frames come
    /// without loss, in 8 bits of sRGB.
    case pixels
}

/// Pixels of one image: red, green, blue and alpha of 8 bits in sRGB, row by row from the top, with
/// straight alpha.
public struct FramePixels: Hashable, Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Four bytes of each pixel.
    public let rgba: [UInt8]

    /// Takes as many bytes as the size says.
    public init(size: PixelSize, rgba: [UInt8]) {
        precondition(rgba.count == 4 * size.width * size.height, "four bytes a pixel")
        (self.size, self.rgba) = (size, rgba)
    }
}

/// One frame of an animation as it is shown: the whole canvas.
public struct AnimationFrame: Sendable {
    /// What it is held as.
    public enum Content: Sendable {
        /// Its file, and what else came with it. From 1 MiB on it is a mapping of the stack's
        /// memory (`ImageBytes`).
        case encoded(ImageResponse)
        /// Its pixels.
        case pixels(FramePixels)
    }

    /// Its place in the file, from 0 on.
    public let index: Int
    /// How long it is shown; zero of a still image.
    public let duration: Duration
    /// Its image.
    public let content: Content

    /// Bytes that it takes: four for each pixel, or those of its file.
    public var memoryCost: Int {
        switch content {
        case .encoded(let response): response.bytes?.count ?? 0
        case .pixels(let pixels): pixels.rgba.count
        }
    }

    /// Its pixels, where these were asked for.
    public var pixels: FramePixels? {
        if case .pixels(let pixels) = content { pixels } else { nil }
    }

    /// Its file, where pixels were not asked for.
    public var response: ImageResponse? {
        if case .encoded(let response) = content { response } else { nil }
    }
}

extension AnimationFrame {
    /// What came of a load. Throws where there is no image, or its pixels cannot be read.
    init(
        _ index: Int, _ duration: Duration, _ form: FrameForm, _ response: ImageResponse
    ) throws(ImageError) {
        guard let bytes = response.bytes else { throw .noFrameCached }
        (self.index, self.duration) = (index, duration)
        switch form {
        case .encoded: content = .encoded(response)
        case .pixels:
            content = .pixels(
                try bytes.withUnsafeBytes { (bytes) throws(ImageError) in
                    try PNGPixels.pixels(of: bytes)
                })
        }
    }
}

extension ImageError {
    /// A miss, which an animation has no word for.
    static var noFrameCached: ImageError {
        ImageError(
            .invalidRequest,
            "no cache has the image, and fromCacheOnly lets nobody else be asked: load it before, "
                + "or leave that option out")
    }
}
