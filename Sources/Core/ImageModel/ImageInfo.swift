/// What is known of an encoded image.
public struct ImageInfo: Hashable, Sendable {
    /// Its format.
    public var format: ImageFormat
    /// Displayed size in pixels.
    public var size: PixelSize
    /// Frames or pages, at least one.
    public var pages: Int
    /// Whether it has an alpha channel.
    public var hasAlpha: Bool

    /// Facts as a decoder or encoder found them.
    public init(format: ImageFormat, size: PixelSize, pages: Int = 1, hasAlpha: Bool = false) {
        self.format = format
        self.size = size
        self.pages = pages
        self.hasAlpha = hasAlpha
    }
}
