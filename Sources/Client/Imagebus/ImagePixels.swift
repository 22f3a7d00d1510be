public import ImageModel

/// The pixels of an image that was asked for as such (`OutputOptions.pixels`): 8 bits, sRGB or
/// grey, alpha straight, rows from the top. They lie where the stack put them: from 1 MiB on in
/// shared memory, which they hold, without a copy. Any thread.
public struct ImagePixels: Sendable {
    /// What the samples of a pixel are, in the order of their bytes.
    public enum Format: Int, Hashable, Sendable {
        /// One byte.
        case grey8 = 1
        /// Two bytes.
        case greyAlpha8 = 2
        /// Three bytes: red, green, blue.
        case rgb8 = 3
        /// Four bytes: red, green, blue, alpha.
        case rgba8 = 4

        /// Bytes of a pixel.
        public var bytesPerPixel: Int { rawValue }
    }

    /// Columns and rows.
    public let size: PixelSize
    /// What a pixel is.
    public let format: Format
    private let bytes: ImageBytes

    init?(_ bytes: ImageBytes) {
        guard let header = bytes.withUnsafeBytes({ PixelMapHeader($0) }),
            let format = Format(rawValue: header.bands)
        else { return nil }
        (size, self.format, self.bytes) = (header.size, format, bytes)
    }

    /// Bytes from one row to the next; there is nothing between rows.
    public var stride: Int { size.width * format.bytesPerPixel }

    /// Lends all samples, `stride` × height bytes; they are valid within the call only.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes { all throws(Failure) in
            let samples = UnsafeRawBufferPointer(rebasing: all[PixelMapHeader.byteCount...])
            return try body(samples.bindMemory(to: UInt8.self).span)
        }
    }

    /// The samples where they lie, valid and unchanged for as long as the response or this value
    /// lives.
    public var lastingBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.lastingBytes[PixelMapHeader.byteCount...])
    }
}

extension ImageResponse {
    /// Its pixels; `nil` where they were not asked for (`OutputOptions.pixels`).
    public var pixels: ImagePixels? {
        info?.format == .pam ? bytes.flatMap { ImagePixels($0) } : nil
    }
}

extension OutputOptions {
    /// Pixels as they are, for a program that draws them (`ImageResponse.pixels`): PAM, which other
    /// programs read as well.
    public static var pixels: OutputOptions { OutputOptions(format: .pam) }
}
